import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sessionShards } from '../../../lib/defaults.ts';
import { dynamoDbRuns } from '../../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStores } from '../../../lib/dynamodb/dynamodb-stores.ts';
import { runsTable } from '../../../lib/dynamodb/tables.ts';
import { type InMemoryRunQueue, inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { resumeRuns } from '../../../lib/runs/resume-runs.ts';
import type { RunEngine } from '../../../lib/runs/run-engine.ts';
import { type RunRequest, type StartedRun, startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { createRuntime } from '../../../lib/runtime/create-runtime.ts';
import { shardOf } from '../../../lib/sessions/shard-of.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import {
  type EngineUnderTest,
  engineUnderTest,
  hardlyAnyTime,
  jobsOf,
} from '../../support/engine-under-test.ts';
import { clientWithFate, isWrite, sdkError } from '../../support/failing-client.ts';
import { mortalEngine, type WriteFate } from '../../support/mortal-engine.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** An engine whose `digest` fails for every session whose name ends in 7, and counts its visits. */
const digesting = (options?: Parameters<typeof engineUnderTest>[1]) => {
  const visits = new Map<string, number>();
  const digest = async ({ id }: { id: string }) => {
    visits.set(id, (visits.get(id) ?? 0) + 1);
    if (id.endsWith('7')) throw new Error('broken');
  };
  return { visits, ...engineUnderTest({ actions: { digest } }, options) };
};

const tick: RunRequest = {
  agent: 'support',
  action: 'digest',
  tick: { schedule: 'nightly', at: new Date('2027-01-01T00:00:00Z') },
};

/** Delivers a tick until it is answered, each time to a new process. */
const deliverTick = async (newProcess: () => RunEngine, request = tick): Promise<StartedRun> => {
  for (let delivery = 1; delivery < 50; delivery++) {
    const answer = await startRun(newProcess(), request).catch(() => undefined);
    if (answer !== undefined) return answer;
  }
  throw new Error('the tick was never answered');
};

const expectWhole = async (
  { engine, queue }: Pick<EngineUnderTest, 'engine' | 'queue'>,
  { run }: StartedRun,
  { sessions, visits }: { sessions: readonly string[]; visits: ReadonlyMap<string, number> },
) => {
  const failed = sessions.filter((id) => id.endsWith('7')).sort();
  const ok = sessions.filter((id) => !id.endsWith('7')).sort();
  expect([...visits.keys()].sort()).toEqual([...sessions].sort());
  expect(await jobsOf(engine.runs, run)).toEqual({ ok, failed });
  expect(await engine.runs.get(run)).toMatchObject({
    ...{ status: 'completed', dispatched: true, pending: [] },
    ...{ sessions: sessions.length, ok: ok.length, failed: failed.length },
  });
  expect(queue.deadLetters).toEqual([]);
  expect(await engine.leases.holder('support', 'digest')).toBeUndefined();
  const errors = await createRuntime('support', { stores: engine.stores }).listErrors({ limit: 1000 });
  expect(new Set(errors.items.map(({ sessionId }) => sessionId))).toEqual(new Set(failed));
};

describe('processes that are killed at any moment', () => {
  test('lose no session, count none twice, and the run completes', async () => {
    let deaths = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const random = seededRandom(seed);
      const fateOf = (): WriteFate => {
        if (random() > 0.15) return 'lives';
        deaths++;
        return random() < 0.5 ? 'dies before' : 'dies after';
      };
      const under = digesting({ pageSize: 1 + Math.floor(random() * 4) });
      const sessions = await under.register(1 + Math.floor(random() * 60));
      const newProcess = () => mortalEngine(under.engine, fateOf);
      // Some workers have time for everything, others for hardly anything.
      const timeOf = () => (random() < 0.5 ? () => 1_000_000 : hardlyAnyTime());

      const started = await deliverTick(newProcess);
      const again = deliverTick(newProcess);
      await under.queue.drain(
        async (message) => {
          if (random() < 0.1) await under.queue.send([message]);
          await workShard(newProcess(), message, { remainingMs: timeOf() });
        },
        1 + Math.floor(random() * 4),
      );
      await again;
      await under.queue.drain((message) => workShard(newProcess(), message));

      await expectWhole(under, started, { sessions, visits: under.visits });
    }
    expect(deaths).toBeGreaterThan(1_000);
  });

  test('while other ticks come: no session has two runs at it at the same time', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(1_000 + seed);
      const fateOf = (): WriteFate =>
        random() > 0.1 ? 'lives' : random() < 0.5 ? 'dies before' : 'dies after';
      const at = new Map<string, string>();
      const busy: string[] = [];
      const under = engineUnderTest({
        actions: {
          digest: async ({ id }, { runId }) => {
            if ((at.get(id) ?? runId) !== runId) busy.push(id);
            at.set(id, runId);
            await new Promise((resolve) => setImmediate(resolve));
            at.delete(id);
          },
        },
      });
      await under.register(30);
      const newProcess = () => mortalEngine(under.engine, fateOf);

      const ticks = [0, 1, 2, 3].map((minute) => {
        const due = { schedule: 'nightly', at: new Date(Date.UTC(2027, 0, 1, 0, minute)) };
        return deliverTick(newProcess, { ...tick, tick: due });
      });
      await Promise.all(ticks);
      await under.queue.drain((message) => workShard(newProcess(), message), 4);

      expect(busy).toEqual([]);
      const { items } = await under.engine.runs.list({ agent: 'support', limit: 9 });
      const statuses = items.map(({ status }) => status).sort();
      expect(statuses).toEqual(['completed', 'skipped', 'skipped', 'skipped']);
    }
  });
});

describe('over DynamoDB', () => {
  let table: EmbeddedTable;
  let agents = 0;

  beforeAll(async () => {
    table = await embeddedTable(runsTable);
  });
  afterAll(() => table.close());

  /** The ports over a client; their keys do not meet, so that one table is enough. */
  const portsOver = (client: EmbeddedTable['client']) => ({
    stores: dynamoDbStores({ client, sessionsTable: table.tableName, errorsTable: table.tableName }),
    ...dynamoDbRuns({ client, runsTable: table.tableName }),
  });

  /** As `mortalEngine`, but at the writes that DynamoDB sees: some calls of a port are several. */
  const dyingProcess = (engine: RunEngine, fateOf: () => WriteFate): RunEngine => {
    let dead = false;
    const nextFate = (): WriteFate => {
      const fate = dead ? 'dies before' : fateOf();
      dead ||= fate !== 'lives';
      return fate;
    };
    const { client } = clientWithFate(table.client, (_index, command) => {
      const fate = dead || isWrite(command) ? nextFate() : 'lives';
      return fate === 'lives' ? 'pass' : { applied: fate === 'dies after', error: sdkError('TimeoutError') };
    });
    const { queue } = mortalEngine(engine, nextFate);
    return { ...engine, ...portsOver(client), queue };
  };

  // Two of one shard, so that it is handed on from the first to the second.
  const sessions = Array.from({ length: 100 }, (_, index) => `s${index}`)
    .filter((id) => shardOf(id, sessionShards) === 0)
    .slice(0, 2)
    .sort();

  /** Runs over two sessions, in each of which a process dies, each time one write later. Resolves how many did. */
  const dieAtEachWrite = async (
    carryOut: (newProcess: () => RunEngine, request: RunRequest, engine: RunEngine) => Promise<StartedRun>,
  ): Promise<number> => {
    let deaths = 0;
    for (const fate of ['dies before', 'dies after'] as const) {
      for (let fatal = 1, died = true; died; fatal++) {
        const agent = `crash-${++agents}`;
        const request = { agent, action: 'digest', sessions, tick: tick.tick };
        const under = engineUnderTest({}, { ...portsOver(table.client), agents: new Map(), pageSize: 2 });
        const visits = new Map<string, number>();
        const digest = ({ id }: { id: string }) => visits.set(id, (visits.get(id) ?? 0) + 1);
        const engine = { ...under.engine, agents: new Map([[agent, { name: agent, actions: { digest } }]]) };
        for (const id of sessions)
          await engine.stores.sessions.register(agent, { id, meta: {}, at: engine.clock() });
        let written = 0;
        const fateOf = () => (++written === fatal ? fate : 'lives');

        const { run } = await carryOut(() => dyingProcess(engine, fateOf), request, engine);

        died = written >= fatal;
        if (died) deaths++;
        expect([...visits.keys()].sort(), `write ${fatal}`).toEqual(sessions);
        expect(await engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 2, ok: 2 });
        expect((await under.jobsOf(run)).ok).toEqual(sessions);
        expect(await startRun(engine, { agent, action: 'digest' })).toMatchObject({ status: 'started' });
      }
    }
    return deaths;
  };

  test('a process that dies at its first write, its second, …: whole each time, after a redelivery', async () => {
    const deaths = await dieAtEachWrite(async (newProcess, request, engine) => {
      const queue = engine.queue as InMemoryRunQueue;
      const started = await deliverTick(newProcess, request);
      await queue.drain((message) => workShard(newProcess(), message, { remainingMs: hardlyAnyTime() }));
      expect(await engine.leases.holder(request.agent, 'digest')).toBeUndefined();
      return started;
    });

    expect(deaths).toBeGreaterThan(25);
  });

  test('a process that takes its queue with it: whole each time, after the next one went on', async () => {
    const deaths = await dieAtEachWrite(async (newProcess, request) => {
      for (let start = 1; start < 10; start++) {
        const queue = inMemoryRunQueue({ receiveLimit: 1 });
        const process = { ...newProcess(), queue };
        try {
          await resumeRuns(process, request.agent);
          const started = await startRun(process, request);
          await queue.drain((message) => workShard(process, message, { remainingMs: hardlyAnyTime() }));
          if (queue.deadLetters.length === 0) return started;
        } catch {
          // It died: the next one has nothing but what is stored.
        }
      }
      throw new Error('the run never came to its end');
    });

    expect(deaths).toBeGreaterThan(25);
  });

  test('with 30 % of all calls throttled and answers lost, the run completes and its totals are exact', async () => {
    const random = seededRandom(42);
    let throttled = 0;
    const pauses: number[] = [];
    const { client } = clientWithFate(table.client, () => {
      const chance = random();
      if (chance < 0.3) throttled++;
      if (chance < 0.3) return { applied: false, error: sdkError('ThrottlingException') };
      return chance < 0.35 ? { applied: true, error: sdkError('TimeoutError') } : 'pass';
    });
    const retries = { attempts: 12, random, pause: async (ms: number) => void pauses.push(ms) };
    const under = digesting({ ...portsOver(client), pageSize: 5, retries });
    const healthy = { queue: under.queue, engine: { ...under.engine, ...portsOver(table.client) } };
    const sessions = Array.from({ length: 100 }, (_, index) => `s${index}`);
    for (const id of sessions)
      await healthy.engine.stores.sessions.register('support', { id, meta: {}, at: under.clock.now() });

    const started = await startRun(under.engine, tick);
    await under.work({}, 4);

    expect(throttled).toBeGreaterThan(50);
    expect(new Set(pauses).size).toBeGreaterThan(50);
    await expectWhole(healthy, started, { sessions, visits: under.visits });
  });

  test('that throttles for good, a worker gives up after a bounded number of calls and says why', async () => {
    const { client, sent } = clientWithFate(table.client, () => ({
      applied: false,
      error: sdkError('ThrottlingException'),
    }));
    const { engine } = digesting(portsOver(client));

    const refused = { code: 'unavailable', retryable: true, throttled: true };
    await expect(startRun(engine, tick)).rejects.toMatchObject(refused);
    expect(sent.length).toBe(8);
  });
});
