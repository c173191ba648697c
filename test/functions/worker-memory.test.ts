import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../functions/http/operations.ts';
import { workerTimeoutSecs } from '../../infra/service-functions.ts';
import { httpEvent } from '../support/http-event.ts';
import { type LambdaFunctions, lambdaFunctions } from '../support/lambda-functions.ts';
import { sqsEvent } from '../support/lifecycle-functions.ts';

const agent = 'worked';

/** What a caller may store, at its worst, as many times as a window of a compaction holds or fewer. */
const memories: Readonly<Record<string, { content: () => string; times: number; perCall: number }>> = {
  'large texts': { content: () => JSON.stringify('x'.repeat(5_000_000)), times: 30, perCall: 1 },
  'half a million numbers each': { content: () => `[${'0,'.repeat(480_000)}0]`, times: 30, perCall: 1 },
  'a hundred thousand objects each': { content: () => `[${'{},'.repeat(100_000)}0]`, times: 30, perCall: 1 },
  'as many as a window holds': {
    content: () => JSON.stringify('x'.repeat(40_000)),
    times: 200,
    perCall: 100,
  },
};

/** Minutes of work: only where all is asked for. */
describe.runIf(process.env.DORMOUSE_BODIES === 'all')('within the memory that Lambda gives a worker', () => {
  let functions: LambdaFunctions;
  beforeAll(async () => {
    functions = await lambdaFunctions(['conversations', 'runs', 'work']);
  }, 60_000);
  afterAll(() => functions.end());

  const call = async (operation: Operation, parameters: Record<string, string>, body?: string) => {
    const event = httpEvent({
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      ...(body && { body }),
    });
    const answered = await functions.call(operation, { ...event, pathParameters: { agent, ...parameters } });
    if (answered.status >= 300) throw new Error(`${operation}: ${answered.body}`);
    return answered;
  };

  /** Runs the action over these sessions, and resolves its totals and its jobs. */
  const run = async (action: string, sessions: readonly string[]) => {
    const started = await call('start-run', {}, JSON.stringify({ action, sessions }));
    const { runId } = JSON.parse(started.body);
    for (let bodies = functions.takeMessages(); bodies.length > 0; bodies = functions.takeMessages())
      for (const body of bodies) {
        const worked = await functions.function('work')?.invoke(sqsEvent([body]), workerTimeoutSecs * 1000);
        expect.soft(worked?.body, action).toBe('{"batchItemFailures":[]}');
        expect.soft(worked?.ms, action).toBeLessThan(workerTimeoutSecs * 1000);
        console.log(
          action,
          sessions.join(' '),
          Math.round(worked?.ms ?? 0),
          'ms',
          Math.round(worked?.peakMB ?? 0),
          'MB',
        );
        expect.soft(worked?.peakMB, action).toBeLessThan(1024);
      }
    const ended = JSON.parse((await call('get-run', { run: runId })).body);
    return { ended, jobs: (await call('list-jobs', { run: runId })).body };
  };

  test.each(Object.entries(memories))(
    'a session of the worst messages is compacted: %s',
    async (name, { content, times, perCall }) => {
      const session = name.replaceAll(' ', '-');
      await call('register-session', { session }, '{}');
      const message = `{"content":${content()},"sender":{"id":"ann"}}`;
      const body = perCall === 1 ? message : `[${Array.from({ length: perCall }, () => message).join(',')}]`;
      for (let sent = 0; sent < times; sent += perCall) await call('remember', { session }, body);

      const { ended, jobs } = await run('compact', [session]);

      expect(ended).toMatchObject({ status: 'completed', sessions: 1, ok: 1 });
      expect(JSON.parse(jobs).items[0].result).toMatchObject({ status: 'compacted' });
    },
    600_000,
  );

  test('results that are far more than is kept of them cost no session its job', async () => {
    const sessions = ['deep', 'wide', 'long', 'named', 'thrown', 'healthy'];
    for (const session of sessions) await call('register-session', { session }, '{}');

    const { ended } = await run('digest', sessions);

    expect(ended).toMatchObject({ status: 'completed', sessions: 6, ok: 5, failed: 1 });
  }, 600_000);
});
