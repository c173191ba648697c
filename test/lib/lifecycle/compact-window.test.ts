import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AgentMemory,
  compactMemory,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
  type RuntimeStores,
} from '../../../lib/index.ts';
import { compactWindow, windowDue } from '../../../lib/lifecycle/compact-window.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

const weekSecs = 7 * 86_400;
let clock: TestClock;
let stores: RuntimeStores;
let memory: AgentMemory;

const runtimeOver = (over: RuntimeStores) =>
  createRuntime('support', {
    ...{ stores: over, clock: clock.now },
    policy: { ...DEFAULT_RETENTION, rawRetentionSecs: null },
  });
const say = (...ids: string[]) => memory.remember(ids.map((id) => ({ id, content: id })));
const raw = async () => (await memory.recent()).items.map(({ id }) => id);
const capsules = async () => (await memory.listCapsules()).items;

beforeEach(async () => {
  clock = testClock();
  stores = inMemoryStores({ clock: clock.now });
  memory = runtimeOver(stores).memory('s1', { id: 'ann' });
  await runtimeOver(stores).registerSession('s1');
});

describe('a window that is summarised elsewhere', () => {
  test('is the one that compactMemory would take', async () => {
    await say('m1', 'm2');
    clock.advanceSecs(weekSecs);
    await compactMemory(memory, () => 'earlier');
    await say(...Array.from({ length: 100 }, (_, n) => `a${n}`));
    await say(...Array.from({ length: 100 }, (_, n) => `b${n}`));
    await say('too-many');
    clock.advanceSecs(weekSecs);
    await say('too-young');

    const due = await windowDue(memory);
    let seen: unknown;
    await compactMemory(memory, ({ messages, previous }) => {
      seen = { messages, previous };
      return 'later';
    });

    expect(due.messages).toHaveLength(200);
    expect({ messages: due.messages, previous: due.previous }).toEqual(seen);
  });

  test('becomes the capsule that compactMemory would have made, in order of time', async () => {
    await say('m1');
    clock.advanceSecs(1);
    await say('m2');
    clock.advanceSecs(weekSecs);
    const { moment } = await windowDue(memory);

    const result = await compactWindow(memory, { messageIds: ['m2', 'm1'], summary: 'both', moment });

    const twin = inMemoryStores({ clock: clock.now });
    await runtimeOver(twin).registerSession('s1');
    const other = runtimeOver(twin).memory('s1', { id: 'ann' });
    for (const id of ['m1', 'm2']) {
      const timestamp = clock.now().getTime() - weekSecs * 1000 - (id === 'm1' ? 1000 : 0);
      await other.remember({ id, content: id, timestamp });
    }
    await compactMemory(other, () => 'both');
    const [{ horizon, ...expected } = { id: '' }] = (await other.listCapsules()).items;
    expect(result).toMatchObject({ status: 'compacted', capsule: expected });
    expect(await raw()).toEqual([]);
  });

  test('is removed by the same call again where the first one was interrupted', async () => {
    await say('m1', 'm2', 'm3');
    const window = {
      messageIds: ['m1', 'm2', 'm3'],
      summary: 'all',
      moment: await stores.memory.moment(memory.scope),
    };
    const interrupted: RuntimeStores = {
      ...stores,
      memory: { ...stores.memory, removeCompacted: () => Promise.reject(new Error('the process ended')) },
    };
    await expect(compactWindow(runtimeOver(interrupted).memory('s1'), window)).rejects.toThrow('ended');
    expect(await raw()).toEqual(['m1', 'm2', 'm3']);

    const result = await compactWindow(memory, window);

    expect(result).toEqual({ status: 'compacted', capsule: (await capsules())[0] });
    expect(await raw()).toEqual([]);
  });

  test('of which one was forgotten between the read and the store is overtaken', async () => {
    await say('m1', 'm2');
    const forgetting: RuntimeStores = {
      ...stores,
      memory: {
        ...stores.memory,
        async append(...call) {
          if (call[1] === 'capsule') await memory.forgetSessionWhere(({ id }) => id === 'm2');
          return stores.memory.append(...call);
        },
      },
    };

    const result = await compactWindow(runtimeOver(forgetting).memory('s1'), {
      ...{ messageIds: ['m1', 'm2'], summary: 'both' },
    });

    expect(result).toMatchObject({ status: 'overtaken' });
    expect([await raw(), await capsules()]).toEqual([['m1'], []]);
  });

  test('without a message that came again after it was read is overtaken', async () => {
    await say('m1');
    const moment = await stores.memory.moment(memory.scope);
    await memory.forgetSession();
    await say('m1');

    expect(await compactWindow(memory, { messageIds: ['m1'], summary: 'old', moment })).toMatchObject({
      status: 'overtaken',
    });

    expect([await raw(), await capsules()]).toEqual([['m1'], []]);
  });
});
