import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as dispatch } from '../../functions/lifecycle/dispatch.ts';
import { handler as work } from '../../functions/lifecycle/work.ts';
import { useServices } from '../../functions/services.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { runReceiveLimit, sessionShards } from '../../lib/defaults.ts';
import { CorruptError, UnavailableError } from '../../lib/errors.ts';
import { cancelled, failed } from '../../lib/lifecycle/job-outcome.ts';
import { ShardTakenError } from '../../lib/runs/run-error.ts';
import type { RunMessage } from '../../lib/runs/run-message.ts';
import type { RunStore } from '../../lib/runs/run-store.ts';
import { shardOf } from '../../lib/sessions/shard-of.ts';
import { capturedLog } from '../support/captured-log.ts';
import {
  failing,
  type LifecycleFunctions,
  lambdaContext,
  lifecycleFunctions,
  sqsEvent,
} from '../support/lifecycle-functions.ts';

/** What the handler does with a session, by its id; 'fine' unless given. */
let behaviour: Readonly<Record<string, () => unknown>>;
const support = defineAgent({
  name: 'support',
  actions: { digest: ({ id }) => (behaviour[id] ?? (() => 'fine'))() },
});
const tick = { agent: 'support', action: 'digest', schedule: 'nightly', time: '2027-02-01T09:00:00Z' };
const away = new UnavailableError('the table is away', { retryable: false });

let functions: LifecycleFunctions;
let lines: string[];

beforeEach(() => {
  behaviour = {};
  lines = capturedLog();
  vi.spyOn(Math, 'random').mockReturnValue(0);
  functions = lifecycleFunctions([support]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The messages of a run that was started, by shard. */
const started = async (): Promise<RunMessage[]> => {
  await dispatch(tick);
  const messages: RunMessage[] = [];
  await functions.queue.drain(async (message) => messages.push(message));
  return messages.sort((a, b) => a.shard - b.shard);
};
const deliver = (bodies: readonly (RunMessage | string)[], received = 1) =>
  work(sqsEvent(bodies, received), lambdaContext());
const listed = (...indexes: number[]) => ({
  batchItemFailures: indexes.map((index) => ({ itemIdentifier: `m${index}` })),
});
const giveRuns = (runs: RunStore) => {
  const { services, leases, queue } = functions;
  useServices({ ...services, lifecycle: { runs, leases, queue } });
};
const onlyRun = async () => (await functions.runs.list({ agent: 'support', limit: 2 })).items[0];
const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const stray = () => {
  throw new Error('stray');
};
const loggedErrors = () => logged().filter(({ level }) => level === 'ERROR');

describe('a batch of messages', () => {
  test('that all are done is answered with an empty list', async () => {
    await functions.register(40);

    expect(await deliver(await started())).toEqual(listed());
    expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 40, ok: 40, failed: 0 });
    expect(loggedErrors()).toEqual([]);
  });

  test('of which some fail lists exactly those, and the others are done', async () => {
    const messages = await started();
    giveRuns({
      ...functions.runs,
      claimShard: (shard, claim) =>
        [3, 7].includes(shard.shard) ? Promise.reject(away) : functions.runs.claimShard(shard, claim),
    });

    expect(await deliver(messages.slice(0, 10))).toEqual(listed(3, 7));
    expect(await onlyRun()).toMatchObject({ pending: [3, 7, 10, 11, 12, 13, 14, 15] });
  });

  test.each([
    ['no JSON', '{"v":1'],
    ['another format', '{"v":2}'],
    ['nothing', ''],
    ['the message of another queue', '{"Type":"Notification","Message":"{}"}'],
  ])('of which one holds %s lists that one', async (_what, body) => {
    const messages = await started();

    expect(await deliver([messages[0] ?? '', body, messages[1] ?? ''])).toEqual(listed(1));
    expect(loggedErrors()).toMatchObject([{ code: 'invalid_run_message', received: '1' }]);
  });

  test('that all fail lists all of them, and does not throw', async () => {
    const messages = (await started()).slice(0, 10);
    giveRuns(failing(functions.runs, away));

    expect(await deliver(messages)).toEqual(listed(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    giveRuns(functions.runs);
    expect(await deliver(messages)).toEqual(listed());
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'a text with the secret'],
    ['an object', { secret: 'secret' }],
  ])('of which one rejects with %s, which is no error, lists that one', async (_what, thrown) => {
    const messages = await started();
    giveRuns({
      ...functions.runs,
      get: (run) => ('shard' in run && run.shard === 1 ? Promise.reject(thrown) : functions.runs.get(run)),
    });

    expect(await deliver(messages.slice(0, 3))).toEqual(listed(1));
    expect(loggedErrors()).toMatchObject([{ code: 'internal', thrown: typeof thrown }]);
    expect(lines.join()).not.toContain('secret');
  });

  test('that comes again is done by then', async () => {
    await functions.register(20);
    const messages = await started();

    await deliver(messages);
    expect(await deliver(messages)).toEqual(listed());
    expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 20 });
  });
});

describe('a message that fails', () => {
  const failingShard = (shard: number, ...methods: (keyof RunStore)[]) => {
    const broken = failing(functions.runs, away, methods);
    const ofShard = (ref: object) => 'shard' in ref && ref.shard === shard;
    giveRuns(
      new Proxy(functions.runs, {
        get:
          (target, name) =>
          (ref: object, ...others: unknown[]) =>
            Reflect.get(ofShard(ref) ? broken : target, name)(ref, ...others),
      }),
    );
  };

  test('leaves its shard to the next delivery until the last, which gives the shard up', async () => {
    await functions.register(100);
    const messages = await started();
    failingShard(4, 'commitPage');

    for (let received = 1; received < runReceiveLimit; received++) {
      expect(await deliver(messages, received)).toEqual(listed(4));
      expect(await onlyRun()).toMatchObject({ status: 'running', pending: [4] });
    }
    expect(await deliver(messages, runReceiveLimit)).toEqual(listed(4));

    const without = Array.from({ length: 100 }, (_, index) => `s${index + 1}`).filter(
      (id) => shardOf(id, sessionShards) !== 4,
    );
    expect(await onlyRun()).toMatchObject({
      ...{ status: 'failed', reason: '1 shards could not be finished', pending: [] },
      ...{ sessions: without.length, ok: without.length, failed: 0 },
    });
    expect(loggedErrors().filter(({ message }) => message === 'the run has failed')).toHaveLength(1);
  });

  test('comes again after a pause that grows, at once where it is not ours, in the queue’s time where another has it', async () => {
    const [broken, taken] = await started();
    const asked: [string, number][] = [];
    const redeliver = async (receipt: string, secs: number) => void asked.push([receipt, secs]);
    const { services, leases, queue, runs } = functions;
    const unreachable: RunStore = {
      ...runs,
      get: ({ runId, ...ref }) =>
        Promise.reject('shard' in ref && ref.shard === taken?.shard ? new ShardTakenError(runId, 1) : away),
    };
    useServices({ ...services, lifecycle: { leases, runs: unreachable, queue: { ...queue, redeliver } } });

    for (let received = 1; received <= runReceiveLimit; received++)
      expect((await deliver([broken ?? '', taken ?? '', 'poison'], received)).batchItemFailures).toHaveLength(
        3,
      );

    const pausesOf = (index: number) =>
      asked.filter(([receipt]) => receipt === `receipt-${index}`).map(([, secs]) => secs);
    expect([pausesOf(0), pausesOf(1), pausesOf(2)]).toEqual([[30, 120, 480, 1800], [], [0, 0, 0, 0, 0]]);
  });

  test('is listed also where it cannot be had sooner', async () => {
    const [message] = await started();
    const { services, leases, queue, runs } = functions;
    const broken = { ...queue, redeliver: () => Promise.reject(away) };
    useServices({ ...services, lifecycle: { leases, runs: failing(runs, away), queue: broken } });

    expect(await deliver([message ?? ''])).toEqual(listed(0));
    expect(loggedErrors().map(({ message }) => message)).toEqual([
      'a message of a run failed',
      'a message of a run comes again late',
    ]);
  });

  test('for the last time is listed too where its shard cannot be given up', async () => {
    const messages = await started();
    failingShard(4, 'commitPage', 'finishShard');

    expect(await deliver(messages, runReceiveLimit)).toEqual(listed(4));

    expect(await onlyRun()).toMatchObject({ status: 'running', pending: [4] });
    expect(loggedErrors().map(({ message }) => message)).toEqual([
      'a message of a run failed',
      'a shard of the run was given up',
      'a shard of a run could not be given up',
    ]);
  });

  test('because what is stored is damaged is logged under the code that alarms look for', async () => {
    const [message] = await started();
    giveRuns(failing(functions.runs, new CorruptError('the run item is not one of ours'), ['progress']));

    await deliver([message ?? ''], 2);

    expect(loggedErrors()).toMatchObject([
      {
        ...{ message: 'a message of a run failed', code: 'corrupt', received: '2' },
        ...{ agent: 'support', runId: message?.runId, shard: 0 },
        function_request_id: 'request-of-lambda',
      },
    ]);
  });

  test('of an action that a deployment has removed fails its run, once', async () => {
    const messages = await started();
    useServices({ ...functions.services, agents: new Map() });

    expect(await deliver(messages.slice(0, 1))).toEqual(listed());
    expect(await deliver(messages.slice(1))).toEqual(listed());

    expect(await onlyRun()).toMatchObject({ status: 'failed', reason: expect.stringContaining('action') });
    expect(loggedErrors()).toMatchObject([{ message: 'the run has failed' }]);
  });
});

describe('sessions that fail', () => {
  beforeEach(async () => {
    await functions.register(5);
    behaviour = {
      s1: () => 'nothing to do',
      s2: () => {
        throw new Error('the secret of the session');
      },
      s3: () => Promise.reject(undefined),
      s4: () => Promise.reject('x'.repeat(600_000)),
    };
  });

  test('are jobs and errors of the run, which is complete; the next tick visits all of them again', async () => {
    const messages = await started();

    expect(await deliver(messages)).toEqual(listed());
    expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 5, ok: 2, failed: 3 });
    const errors = await functions.stores.errors.list({ agent: 'support', limit: 9, maxErrors: 99 });
    expect(errors.items.map(({ sessionId }) => sessionId).sort()).toEqual(['s2', 's3', 's4']);
    for (const { msg, where, runId } of errors.items) {
      expect(msg.length).toBeLessThan(3_000);
      expect([where, runId]).toEqual(['digest', messages[0]?.runId]);
    }

    await dispatch({ ...tick, time: '2027-02-02T09:00:00Z' });
    await functions.drain();
    expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 5, ok: 2, failed: 3 });
  });

  test.each<[string, () => unknown]>([
    ['a promise', () => void Promise.reject(new Error('stray'))],
    ['a timer', () => void setImmediate(() => stray())],
  ])(
    'in %s that nobody waits for end neither the process nor the run, and are in the error log',
    async (_what, fail) => {
      behaviour = { s2: fail };
      await functions.register(20);

      expect(await deliver(await started())).toEqual(listed());

      await vi.waitFor(async () => {
        const { items } = await functions.stores.errors.list({ agent: 'support', limit: 9, maxErrors: 9 });
        expect(items).toMatchObject([{ where: 'stray', msg: 'stray', runId: (await onlyRun())?.runId }]);
      });
      expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 20, ok: 20 });
      expect(loggedErrors()).toMatchObject([{ message: 'an error of a handler that nobody waited for' }]);
      expect(lines.join()).not.toContain('Error: stray');
    },
  );

  test('by saying so keep no message', async () => {
    behaviour = { s1: () => failed('not today'), s2: () => cancelled('paused') };

    expect(await deliver(await started())).toEqual(listed());
    expect(await onlyRun()).toMatchObject({ status: 'completed', sessions: 5, ok: 3, failed: 2 });
  });

  test('where the error log is away end the run as failed, and nothing of them is in the log', async () => {
    const { services, stores } = functions;
    useServices({ ...services, stores: { ...stores, errors: failing(stores.errors, away) } });

    expect(await deliver(await started())).toEqual(listed());

    expect(await onlyRun()).toMatchObject({ status: 'failed', sessions: 5, ok: 2, failed: 3 });
    const unrecorded = loggedErrors().filter(({ sessionHash }) => sessionHash !== undefined);
    const messages = unrecorded.map(({ message }) => message);
    expect(messages.toSorted()).toEqual([
      ...Array(3).fill('a failure could not be written to the error log'),
      ...Array(3).fill('a session failed'),
    ]);
    for (const line of unrecorded) expect(line).not.toHaveProperty('sessionId');
    expect(lines.join()).not.toMatch(/secret|xxxx|"s[1-5]"/);
  });
});

test('what is no event of a queue is refused', async () => {
  await expect(work({ hello: 'worker' } as never, lambdaContext())).rejects.toThrow();
});
