import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { runSessionJob } from '../../lib/lifecycle/run-session-job.ts';
import { createMemory } from '../../lib/memory/create-memory.ts';
import { forget } from '../../lib/persistence/forget.ts';
import { hibernate } from '../../lib/persistence/hibernate.ts';
import { thaw } from '../../lib/persistence/thaw.ts';
import { updateAgent } from '../../lib/persistence/update-agent.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';

/** What the compiler refuses, as JavaScript and values that came from elsewhere can have it. */
const unchecked = <T>(value: object) => value as T;

describe('a field that nothing reads', () => {
  test('is refused in the options of snapshots, which stay as they are', async () => {
    const config = { store: memoryStore() };
    await hibernate(config, 'a', 'k', 1);

    for (const [options, meant] of [
      [{ ifmatch: 'other' }, 'ifMatch'],
      [{ if_none_match: '*' }, 'ifNoneMatch'],
      [{ ttl: 5 }, 'ttlSeconds'],
      [null, 'must be an object'],
    ] as const) {
      const given = unchecked<undefined>(options as object);
      for (const call of [
        hibernate(config, 'a', 'k', 2, given),
        updateAgent(config, 'a', 'k', () => 2, given),
        forget(config, 'a', 'k', given),
      ]) {
        expect(await call).toMatchObject({ status: 'error', error: { code: 'invalid_option' } });
      }
      expect(await hibernate(config, 'a', 'k', 2, given)).toMatchObject({
        error: { message: expect.stringContaining(meant) },
      });
    }
    const condition = unchecked<undefined>({ ifMatch: 'other' });
    expect(await updateAgent(config, 'a', 'k', () => 2, condition)).toMatchObject({
      error: {
        code: 'invalid_option',
        message: "options: there is no field 'ifMatch'; there are: ttlSeconds",
      },
    });

    expect(await thaw(config, 'a', 'k')).toMatchObject({ status: 'ok', agent: 1 });
  });

  test('is refused in calls on memory, which do nothing', async () => {
    const stores = inMemoryStores();
    const runtime = createRuntime('a', { stores });
    await runtime.registerSession('s');
    const memory = runtime.memory('s', { id: 'ann' });
    await memory.remember({ id: 'm1', content: 'hi' });
    const range = { from: 0, to: new Date(8e13) };

    for (const [call, message] of [
      [
        () => memory.remember(unchecked({ content: 'x', role: 'user' })),
        "messages[0]: there is no field 'role'",
      ],
      [() => memory.remember(unchecked({ content: 'x', timestmp: 1 })), "did you mean 'timestamp'?"],
      [
        () => memory.remember({ content: 'x', sender: unchecked({ id: 'ann', nmae: 'Ann' }) }),
        "messages[0].sender: there is no field 'nmae'; did you mean 'name'?",
      ],
      [
        () => memory.recent(unchecked({ sinse: 1 })),
        "query: there is no field 'sinse'; did you mean 'since'?",
      ],
      [() => memory.recent(unchecked(null as unknown as object)), 'query: must be an object'],
      [() => memory.listCapsules(unchecked({ since: 1 })), "query: there is no field 'since'"],
      [
        () => runtime.recordError(unchecked({ where: 'x', mgs: 'why' })),
        "error: there is no field 'mgs'; did you mean 'msg'?",
      ],
      [() => runtime.recordError(unchecked(new Error('why'))), 'error.where: must be a string'],
      [() => runtime.recordError(unchecked({ where: 'x', msg: 'why', stack: null })), 'error.stack'],
      [() => runtime.recordError(unchecked(null as unknown as object)), 'error: must be an object'],
      [() => runtime.listErrors(unchecked({ limt: 1 })), "did you mean 'limit'?"],
      [() => runtime.listSessionPage(unchecked({ cursor: 'x' })), "there is no field 'cursor'"],
      [() => memory.forgetMessages(unchecked({ ...range, until: 1 })), "there is no field 'until'"],
      [
        () => memory.forgetMessages(unchecked({ ...range, where: () => true })),
        "selection: there is no field 'from'",
      ],
      [() => memory.forgetMessages(range, unchecked({ capsule: 'forget' })), "did you mean 'capsules'?"],
    ] as const) {
      await expect(async () => call()).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining(message),
      });
    }
    expect((await memory.recent()).items.map(({ id }) => id)).toEqual(['m1']);
  });

  test('is refused in the options of what is made once, and of a run', async () => {
    const stores = inMemoryStores();
    const runtime = createRuntime('a', { stores });
    for (const [make, message] of [
      [() => createRuntime('a', unchecked({ stores, polcy: {} })), "options: there is no field 'polcy'"],
      [() => createMemory('a', 's', undefined, unchecked({ stores, retention: {} })), "no field 'retention'"],
      [
        () => createMemory('a', 's', unchecked({ id: 'ann', mail: 'x' }), { stores }),
        'identity: there is no',
      ],
      [
        () => runSessionJob(runtime, 'x', () => 1, unchecked({ timeoutSec: 5 })),
        "did you mean 'timeoutSecs'?",
      ],
    ] as const) {
      await expect(async () => make()).rejects.toThrow(message);
    }
    const options = unchecked<{ timezone: string }>({ timeZone: 'Europe/Paris' });
    expect(() => scheduleDescriptor('n', '0 9 * * *', 'x', options)).toThrow("did you mean 'timezone'?");
  });

  test('is refused in a capsule, of which one that was read or exported is stored as it is', async () => {
    const runtime = createRuntime('a', { stores: inMemoryStores() });
    for (const id of ['s', 'copy']) await runtime.registerSession(id);
    const from = runtime.memory('s', { id: 'ann' });
    const to = runtime.memory('copy');
    const messages = await from.remember({ id: 'm1', content: 'hi' });
    const capsule = await from.storeCapsule({ ...from.capsuleFromWindow(messages, 'hello'), id: 'c1' });

    expect(await to.storeCapsule(capsule)).toMatchObject({ id: 'c1', summary: 'hello' });
    await expect(to.storeCapsule(unchecked({ ...capsule, sumary: 'x' }))).rejects.toThrow(
      "capsule: there is no field 'sumary'; did you mean 'summary'?",
    );
  });
});
