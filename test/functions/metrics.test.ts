import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { sessionShards } from '../../lib/defaults.ts';
import type { RunMessage } from '../../lib/runs/run-message.ts';
import { capturedLog } from '../support/captured-log.ts';
import { httpEvent } from '../support/http-event.ts';

const support = defineAgent({
  name: 'support',
  actions: {
    digest: ({ id }) => {
      if (id === 's3') throw new Error('broken');
    },
  },
});
const tick = { agent: 'support', action: 'digest', schedule: 'nightly', time: '2027-02-01T09:00:00Z' };

let lines: string[];

/** Each process reads the namespace once, so that each test has functions of its own. */
async function functionsOfAProcess(namespace: string | undefined) {
  vi.resetModules();
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', namespace);
  const harness = await import('../support/lifecycle-functions.ts');
  const { handler: dispatch } = await import('../../functions/lifecycle/dispatch.ts');
  const { handler: work } = await import('../../functions/lifecycle/work.ts');
  const { handlerOf } = await import('../support/handler-of.ts');
  return { ...harness, dispatch, work, hibernate: handlerOf('hibernate'), startRun: handlerOf('start-run') };
}

beforeEach(() => {
  lines = capturedLog();
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.resetModules();
});

const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
/** The values of what was printed as metrics since the last call, without what surrounds them. */
const printed = () => {
  const metrics = logged().filter((line) => '_aws' in line);
  lines.length = 0;
  return metrics.map(({ _aws, ...values }) => values);
};
const of = (values: object) => [{ service: 'dormouse', ...values }];
const put = (body: string, headers: Record<string, string> = {}) =>
  httpEvent({
    method: 'PUT',
    agent: 'support',
    key: 'k',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('with a namespace', () => {
  let functions: Awaited<ReturnType<typeof functionsOfAProcess>>;

  beforeEach(async () => {
    functions = await functionsOfAProcess('dormouse-test');
  });

  const start = async () => {
    const under = functions.lifecycleFunctions([support]);
    const messages: RunMessage[] = [];
    const collect = () => under.queue.drain(async (message) => messages.push(message));
    return { ...under, messages, collect };
  };
  const deliver = (messages: readonly RunMessage[], received = 1) =>
    functions.work(functions.sqsEvent(messages, received), functions.lambdaContext());

  test('a worker prints its sessions, and the end of the run, in one line', async () => {
    const { register, messages, collect } = await start();
    await register(5);
    await functions.dispatch(tick);
    await collect();
    expect(printed()).toEqual([]);

    await deliver(messages);

    const [metrics] = logged().filter((line) => '_aws' in line);
    expect(metrics?._aws).toMatchObject({
      CloudWatchMetrics: [
        {
          Namespace: 'dormouse-test',
          Dimensions: [['service']],
          Metrics: expect.arrayContaining([
            { Name: 'SessionsOk', Unit: 'Count' },
            { Name: 'SessionsFailed', Unit: 'Count' },
            { Name: 'RunsCompleted', Unit: 'Count' },
            { Name: 'RunDuration', Unit: 'Milliseconds' },
          ]),
        },
      ],
    });
    const [{ SessionsOk, ...others } = { SessionsOk: [] }, ...more] = printed();
    expect([SessionsOk].flat().reduce((sum: number, count) => sum + Number(count), 0)).toBe(4);
    expect(more).toEqual([]);
    expect(others).toEqual({
      ...{ service: 'dormouse', SessionsFailed: 1, RunsCompleted: 1 },
      RunDuration: expect.any(Number),
    });
  });

  test('jobs that were committed count, once, though their message then fails', async () => {
    const { services, register, messages, collect, runs, leases, queue } = await start();
    await register(1);
    await functions.dispatch(tick);
    await collect();
    const finishShard = () => Promise.reject(new Error('away'));
    const { useServices } = await import('../../functions/services.ts');
    useServices({ ...services, lifecycle: { runs: { ...runs, finishShard }, leases, queue } });

    const { batchItemFailures } = await deliver(messages);
    expect(batchItemFailures).toHaveLength(sessionShards);
    expect(printed()).toEqual(of({ SessionsOk: 1 }));

    useServices(services);
    await deliver(messages, 2);
    expect(printed()).toEqual(of({ RunsCompleted: 1, RunDuration: expect.any(Number) }));
  });

  test('a run that fails, and one that is skipped, are counted by whoever ends them', async () => {
    const { messages, collect, services } = await start();
    await functions.dispatch(tick);
    await functions.dispatch({ ...tick, time: '2027-02-02T09:00:00Z' });
    expect(printed()).toEqual(of({ RunsSkipped: 1 }));

    const body = JSON.stringify({ action: 'digest' });
    await functions.startRun(
      httpEvent({ method: 'POST', agent: 'support', body, headers: { 'content-type': 'application/json' } }),
    );
    expect(printed()).toEqual(of({ RunsSkipped: 1 }));

    await collect();
    const { useServices } = await import('../../functions/services.ts');
    useServices({ ...services, agents: new Map() });
    await deliver(messages.slice(0, 1));
    expect(printed()).toEqual(of({ RunsFailed: 1, RunDuration: expect.any(Number) }));

    await deliver(messages);
    expect(printed()).toEqual([]);
  });

  test('a state that is stored is counted by its bytes; one that is refused is not', async () => {
    await start();

    expect((await functions.hibernate(put('{"a":"ä"}'))).statusCode).toBe(201);
    expect(printed()).toEqual(of({ HibernateBytes: 10 }));

    expect((await functions.hibernate(put('{}', { 'if-none-match': '*' }))).statusCode).toBe(412);
    expect((await functions.hibernate(put('{'))).statusCode).toBe(400);
    expect(printed()).toEqual([]);
  });
});

test.each([undefined, ''])(
  'without a namespace (%o) nothing is counted, and nothing but the log printed',
  async (none) => {
    const warn = vi.spyOn(console, 'warn');
    const { lifecycleFunctions, dispatch, hibernate } = await functionsOfAProcess(none);
    const { register, drain } = lifecycleFunctions([support]);
    await register(5);

    await dispatch(tick);
    await dispatch({ ...tick, time: '2027-02-02T09:00:00Z' });
    await drain();
    await hibernate(put('{}'));

    expect(logged()).not.toEqual([]);
    expect(logged().filter((line) => !('level' in line) || '_aws' in line)).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
  },
);
