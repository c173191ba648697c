import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lifecycleEngine } from '../../functions/lifecycle-engine.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { jobResultMaxBytes } from '../../lib/defaults.ts';
import { failed } from '../../lib/lifecycle/job-outcome.ts';
import type { LifecycleJob } from '../../lib/lifecycle/lifecycle-job.ts';
import { startRun } from '../../lib/runs/start-run.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import { capturedLog } from '../support/captured-log.ts';
import { type LifecycleFunctions, lifecycleFunctions } from '../support/lifecycle-functions.ts';

/** What the handler does with a session, by its id; the others have a result of their own. */
let behaviour: Readonly<Record<string, () => unknown>>;
const support = defineAgent({
  name: 'support',
  actions: { digest: ({ id }) => (behaviour[id] ?? (() => ({ calls: 1 })))() },
});

let functions: LifecycleFunctions;
beforeEach(() => {
  capturedLog();
  functions = lifecycleFunctions([support]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const digest = { agent: 'support', action: 'digest' };
const refuse = (): never => {
  throw new RangeError('not to be read');
};
const deep = (depth: number) => {
  let node: unknown = 'leaf';
  for (let level = 0; level < depth; level++) node = { next: node };
  return node;
};
const secondReadThrows = () => {
  let reads = 0;
  return Object.defineProperty({}, 'value', {
    enumerable: true,
    get: () => (reads++ > 0 ? refuse() : 1),
  });
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const cycle = () => {
  const own: Record<string, unknown> = {};
  own.self = own;
  return own;
};
const hostile = { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse };

/** Lets sessions of these names behave so, among `healthy` others of whose jobs none is missing or changed. */
async function run(bad: Readonly<Record<string, () => unknown>>, healthy: number) {
  behaviour = bad;
  const names = Object.keys(bad);
  await functions.register(healthy);
  for (const id of names)
    await functions.stores.sessions.register('support', { id, meta: {}, at: new Date(0) });
  const { run: started } = await startRun(lifecycleEngine(functions.services), digest);
  const { agent, runId } = started;
  await functions.drain();

  const ended = await functions.runs.get(started);
  expect(ended).toMatchObject({ status: 'completed', sessions: healthy + names.length });
  const jobs = new Map<string, LifecycleJob>();
  for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
    const { items, next } = await functions.runs.listJobs({ agent, runId, limit: 1000, after });
    for (const job of items) jobs.set(job.sessionId, job);
    after = next;
  }
  const others = [...jobs.values()].filter(({ sessionId }) => !names.includes(sessionId));
  expect(others).toHaveLength(healthy);
  expect(others.every(({ ok, result }) => ok && JSON.stringify(result) === '{"calls":1}')).toBe(true);
  return names.map((name) => [name, jobs.get(name)] as const);
}

test('a session costs no other one its job, whatever its handler returns', async () => {
  const jobs = await run(
    {
      'an object nested 20,000 deep': () => deep(20_000),
      'an array nested 20,000 deep': () => JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)),
      'a getter that throws on its second read': secondReadThrows,
      'a getter that throws': () => Object.defineProperty({}, 'x', { enumerable: true, get: refuse }),
      'a toJSON that throws': () => ({ toJSON: refuse }),
      'a toJSON of 5 million characters': () => ({ toJSON: () => 'x'.repeat(5_000_000) }),
      'a toJSON of a function': () => ({ toJSON: () => refuse }),
      'a cycle': cycle,
      'a bigint in an object': () => ({ total: 2n ** 70n }),
      'a symbol': () => Symbol('why'),
      '5 million characters': () => '\u0000'.repeat(5_000_000),
      'half of a surrogate pair': () => ({ text: '\ud83d' }),
      'a list with a hole at its end': () => Object.assign([1], { length: 4_000_000_000 }),
      'a list of a million': () => new Array(1_000_000).fill(1),
      'an object without a prototype': () => Object.assign(Object.create(null), { a: 1 }),
      'a date that is none': () => new Date(Number.NaN),
      'a property named __proto__': () => JSON.parse('{"__proto__":{"a":1}}'),
    },
    24,
  );

  for (const [name, job] of jobs) {
    expect([name, job?.ok, job?.error]).toEqual([name, true, null]);
    expect(Buffer.byteLength(JSON.stringify(job?.result))).toBeLessThanOrEqual(jobResultMaxBytes);
  }
});

test('a result that cannot be looked at fails the job of its own session only', async () => {
  const jobs = await run(
    {
      'a revoked proxy': revoked,
      'a proxy of which nothing can be read': () => new Proxy({}, hostile),
      'an error whose message throws': () => Object.defineProperty(new Error(), 'message', { get: refuse }),
      'a `then` that throws': () => Object.defineProperty({}, 'then', { get: refuse }),
    },
    37,
  );

  for (const [name, job] of jobs) expect([name, job?.ok, job?.result]).toEqual([name, false, null]);
});

test('a session costs no other one its job, whatever its handler throws', async () => {
  const thrown: Record<string, () => unknown> = {
    'a message that throws': () => Object.defineProperty(new Error('x'), 'message', { get: refuse }),
    'a stack that throws': () => Object.defineProperty(new Error('x'), 'stack', { get: refuse }),
    'a name that throws': () => Object.defineProperty(new Error('x'), 'name', { get: refuse }),
    'a message that is an object': () => Object.assign(new Error('x'), { message: deep(20_000) }),
    'a message of 5 million characters': () => new Error('y'.repeat(5_000_000)),
    'a stack of 5 million characters': () => Object.assign(new Error('x'), { stack: 'z'.repeat(5_000_000) }),
    'causes in a cycle': () => Object.assign(new Error('x'), { cause: cycle() }),
    'a code of its own on a failure': () => Object.assign(failed('no'), { code: 'q'.repeat(5_000_000) }),
    'a proxy': () => new Proxy(new Error('x'), hostile),
    'a revoked proxy': revoked,
    'a toString that throws': () => ({ toString: refuse, message: { toString: refuse } }),
  };
  const throwing = Object.entries(thrown).map(
    ([name, make]) =>
      [
        name,
        () => {
          throw make();
        },
      ] as const,
  );

  const jobs = await run(Object.fromEntries(throwing), 30);

  for (const [name, job] of jobs) {
    expect([name, job?.ok, job?.result]).toEqual([name, false, null]);
    expect(job?.error?.reason.length).toBeLessThanOrEqual(500);
  }
  const { items } = await createRuntime('support', { stores: functions.stores }).listErrors();
  expect(items.map(({ sessionId }) => sessionId).sort()).toEqual(Object.keys(thrown).sort());
});

test('in a full page of a hundred, a result nested 100,000 deep is one shortened result', async () => {
  const [[, job] = []] = await run({ bad: () => deep(100_000) }, 1_600);

  expect(typeof job?.result).toBe('string');
});

test('a result is what it was when the handler returned it', async () => {
  const shared = { calls: 2, extra: 'none' };

  const [[, job] = []] = await run(
    {
      bad: () => {
        setImmediate(() => Object.assign(shared, { calls: 99 }));
        return shared;
      },
    },
    40,
  );

  expect(job?.result).toEqual({ calls: 2, extra: 'none' });
});
