import { expect, test } from 'vitest';
import { handOverReserveMs, sessionConcurrency } from '../../../lib/defaults.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { visitor } from '../../../lib/runs/visit-sessions.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

/** A visitor with so much time, the sessions that it may visit, and how many of them were visited at once. */
const underTest = async (
  limits: { sessionTimeoutSecs?: number; sessionConcurrency?: number },
  budgetMs: number,
) => {
  let left = budgetMs;
  let [active, most] = [0, 0];
  const handler = async () => {
    most = Math.max(most, ++active);
    await new Promise((resolve) => setImmediate(resolve));
    active--;
  };
  const { engine, register } = engineUnderTest({ actions: { digest: handler } });
  const ids = await register(3 * sessionConcurrency);
  const { run } = await startRun(engine, { agent: 'support', action: 'digest' });
  const sessions = (await Promise.all(ids.map((id) => engine.stores.sessions.get('support', id)))).filter(
    (session) => session !== undefined,
  );
  const definition = { name: 'support', limits };
  const visits = visitor(engine, run, { definition, handler, remainingMs: () => left });
  return {
    ...{ visits, sessions },
    most: () => most,
    leave: (ms: number) => {
      left = ms;
    },
  };
};

test.each([
  ['as long as the agent lets it take', { sessionTimeoutSecs: 20 }, 200_000, 20_000 + handOverReserveMs],
  ['half of what the worker has', { sessionTimeoutSecs: 900 }, 100_000, (100_000 + handOverReserveMs) / 2],
  ['half of three quarters of very little', { sessionTimeoutSecs: 900 }, 4_000, 1_500 + 1_000],
])(
  'a session is begun only where it can end in time: %s, and what is kept for handing over',
  async (_what, limits, budgetMs, neededMs) => {
    const { visits, sessions, leave } = await underTest(limits, budgetMs);
    expect(visits.hasTime()).toBe(true);
    await visits.visit(sessions.slice(0, 1));

    leave(neededMs + 1);
    expect(visits.hasTime()).toBe(true);
    leave(neededMs);

    expect(visits.hasTime()).toBe(false);
    expect(await visits.visit(sessions)).toEqual({ jobs: [], unrecorded: 0 });
  },
);

test('the first session has its turn, however little time there is', async () => {
  const { visits, sessions } = await underTest({ sessionConcurrency: 1 }, 0);

  expect((await visits.visit(sessions)).jobs).toHaveLength(1);
});

test.each([
  [{}, sessionConcurrency],
  [{ sessionConcurrency: 3 }, 3],
])('with limits %j so many sessions are visited at once: %d', async (limits, expected) => {
  const { visits, sessions, most } = await underTest(limits, 1e9);

  await visits.visit(sessions);

  expect(most()).toBe(expected);
});
