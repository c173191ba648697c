import { beforeEach, expect, test } from 'vitest';
import {
  type AgentRuntime,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
  pruneRawMemory,
  pruneSessions,
  type RetentionPolicy,
} from '../../../lib/index.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

const keepForEver: RetentionPolicy = { ...DEFAULT_RETENTION, rawRetentionSecs: null, forgetAllowed: false };
const aWeek: RetentionPolicy = { ...keepForEver, rawRetentionSecs: 7 * 86_400 };
let clock: TestClock;
let runtime: AgentRuntime;

beforeEach(async () => {
  clock = testClock();
  runtime = createRuntime('support', {
    stores: inMemoryStores({ clock: clock.now }),
    clock: clock.now,
    policy: keepForEver,
  });
  for (const id of ['s1', 's2', 's3']) {
    await runtime.registerSession(id);
    await runtime.memory(id, { id: 'ann' }).remember([
      { id: 'old', content: 1 },
      { id: 'later', content: 2, timestamp: clock.now().getTime() + 1 },
      { id: 'future', content: 3, timestamp: '2030-01-01T00:00:00Z' },
    ]);
  }
});

const raw = async (id: string) => (await runtime.memory(id).recent()).items.map((message) => message.id);

test.each([null, 0, -5])('a retention of %s deletes nothing and resolves 0', async (rawRetentionSecs) => {
  clock.advanceSecs(1e9);

  expect(await pruneRawMemory(runtime.memory('s1'), { ...keepForEver, rawRetentionSecs })).toBe(0);
  expect(await raw('s1')).toEqual(['old', 'later', 'future']);
});

test('what is exactly as old as the retention goes, a second run finds nothing, and the future stays', async () => {
  clock.advanceSecs(7 * 86_400);

  expect(await pruneRawMemory(runtime.memory('s1'), aWeek)).toBe(1);
  expect(await pruneRawMemory(runtime.memory('s1'), aWeek)).toBe(0);
  expect(await raw('s1')).toEqual(['later', 'future']);
});

test('a run prunes every registered session by the policy of now, and none that is not registered', async () => {
  await runtime.deregisterSession('s3');
  clock.advanceSecs(8 * 86_400);

  const jobs = await pruneSessions(runtime, aWeek, (session) => runtime.memory(session));

  expect(jobs).toHaveLength(2);
  for (const job of jobs) expect(job).toMatchObject({ action: 'prune-raw-memory', ok: true, result: 2 });
  expect(await raw('s1')).toEqual(['future']);
  expect(await raw('s3')).toEqual(['old', 'later', 'future']);
});
