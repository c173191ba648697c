import { expect, test } from 'vitest';
import { abandonShard } from '../../../lib/runs/abandon-shard.ts';
import { resumeRuns } from '../../../lib/runs/resume-runs.ts';
import type { RunEngine } from '../../../lib/runs/run-engine.ts';
import { requestedRunId } from '../../../lib/runs/run-id.ts';
import type { RunMessage } from '../../../lib/runs/run-message.ts';
import { type RunRequest, startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

const digest: RunRequest = { agent: 'support', action: 'digest', sessions: ['s1'] };

/** A run over one session, and the message of its one shard, which nobody has worked on yet. */
const started = async () => {
  const visits: string[] = [];
  const under = engineUnderTest({ actions: { digest: ({ id }) => visits.push(id) } });
  await under.register(1);
  const { run } = await startRun(under.engine, digest);
  const messages: RunMessage[] = [];
  await under.queue.drain(async (message) => messages.push(message));
  const [message] = messages;
  if (message === undefined) throw new Error('nothing was sent');
  return { ...under, run, message, visits };
};
const nothing = { outcome: 'dropped', ok: 0, failed: 0 };

test('a message of a run that is not there is dropped, by a worker and by who gives shards up', async () => {
  const { engine, message, logged } = await started();
  const unknown = { ...message, runId: requestedRunId(new Date(0), 'nobody') };

  expect(await workShard(engine, unknown)).toEqual(nothing);
  await abandonShard(engine, unknown, new Error('killed'));

  expect(logged).toEqual([]);
});

test('a message of a run that has ended is dropped: no session is visited', async () => {
  const { engine, message, run, visits } = await started();
  await engine.runs.end(run, { status: 'failed', reason: 'abandoned', at: engine.clock() });

  expect(await workShard(engine, message)).toEqual(nothing);
  expect(visits).toEqual([]);
  expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
});

test('a message of a shard that is finished is dropped, and the shard is not given up afterwards', async () => {
  const { engine, message, run, visits, logged } = await started();
  expect(await workShard(engine, message)).toEqual({ outcome: 'finished', ok: 1, failed: 0 });

  expect(await workShard(engine, message)).toEqual(nothing);
  await abandonShard(engine, message, new Error('killed'));

  expect(visits).toEqual(['s1']);
  expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', ok: 1 });
  expect(logged).toEqual(['info the run is complete']);
});

test('a message for a shard that another message has is dropped', async () => {
  const { engine, message, visits } = await started();
  await engine.runs.claimShard(message, { dispatchId: 'another', handOvers: 0 });

  expect(await workShard(engine, message)).toEqual(nothing);
  expect(visits).toEqual([]);
});

test('a message that was handed on sends the next one again, and does not work; an older one does nothing', async () => {
  const { engine, message, queue, visits } = await started();
  const stopped = { stop: AbortSignal.abort() };
  const next = async () => {
    const messages: RunMessage[] = [];
    await queue.drain(async (one) => messages.push(one));
    return messages;
  };

  expect(await workShard(engine, message, stopped)).toMatchObject({ outcome: 'handed_over' });
  const [second = message] = await next();
  expect(second).toEqual({ ...message, handOvers: 1 });
  expect(await workShard(engine, message)).toMatchObject({ outcome: 'handed_over' });
  expect(await next()).toEqual([second]);
  await workShard(engine, second, stopped);
  await next();
  expect(await workShard(engine, message)).toEqual(nothing);

  expect(await next()).toEqual([]);
  expect(visits).toEqual([]);
});

test('a look at a run is never given up for a shard of it', async () => {
  const { engine, message, run } = await started();

  await abandonShard(engine, { ...message, watch: { seen: '', looks: 1 } }, new Error('killed'));

  expect(await engine.runs.get(run)).toMatchObject({ status: 'running', pending: [message.shard] });
});

test('a worker whose run lost its lease to another one fails it before it visits anything', async () => {
  const { engine, message, run, visits } = await started();
  await engine.leases.release('support', 'digest', run.runId);
  const until = new Date(engine.clock().getTime() + 1);
  await engine.leases.acquire('support', 'digest', { runId: 'another', until }, engine.clock());

  expect(await workShard(engine, message)).toEqual(nothing);

  expect(visits).toEqual([]);
  expect(await engine.runs.get(run)).toMatchObject({ status: 'failed', sessions: 0 });
  expect(await engine.leases.holder('support', 'digest')).toMatchObject({ runId: 'another' });
});

test('a worker that is told to stop as it begins a page commits none', async () => {
  const { engine, message } = await started();
  const stop = new AbortController();
  const { sessions } = engine.stores;
  const get: typeof sessions.get = (...args) => {
    stop.abort();
    return sessions.get(...args);
  };
  const stopping = { ...engine, stores: { ...engine.stores, sessions: { ...sessions, get } } };

  const { outcome } = await workShard(stopping, message, { stop: stop.signal });

  expect(outcome).toBe('handed_over');
  expect(await engine.runs.progress(message)).toMatchObject({ pages: 0 });
});

/** A run of which every shard is finished, and that nobody has ended: its last worker died in between. */
const finished = async (engine: RunEngine) => {
  const runId = requestedRunId(engine.clock(), 'finished');
  const { run } = await engine.runs.create({
    ...{ agent: 'support', runId, action: 'digest', startedAt: engine.clock() },
    ...{ trigger: 'request', overlap: 'skip', pending: [] },
  });
  await engine.leases.acquire('support', 'digest', { runId, until: new Date(8e15) }, engine.clock());
  return run;
};

test.each<[string, (under: Awaited<ReturnType<typeof started>>, message: RunMessage) => Promise<unknown>]>([
  ['any message of it', ({ engine }, message) => workShard(engine, message)],
  ['a look at it', ({ engine }, message) => workShard(engine, { ...message, watch: { seen: '', looks: 1 } })],
  [
    'the next process',
    async ({ engine, queue }) => {
      await resumeRuns(engine, 'support');
      await queue.drain((message) => workShard(engine, message));
    },
  ],
])('a finished run that nobody has ended is ended by %s', async (_whom, endBy) => {
  const under = await started();
  const { engine, message, work } = under;
  await work();
  await engine.runs.end(under.run, { status: 'failed', at: engine.clock() });
  await engine.leases.release('support', 'digest', under.run.runId);
  const run = await finished(engine);

  await endBy(under, { ...message, runId: run.runId });

  expect(await engine.runs.get(run)).toMatchObject({ status: 'completed' });
  expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
});
