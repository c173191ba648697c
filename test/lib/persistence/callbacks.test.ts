import type { StandardSchemaV1 } from '@standard-schema/spec';
import { expect, test } from 'vitest';
import { checkState, dumpAgent, loadAgent } from '../../../lib/persistence/callbacks.ts';

test('an agent’s callbacks are told whose state it is', async () => {
  const agent = {
    name: 'support',
    dump: (state: unknown, context: unknown) => [state, context],
    load: async (dump: unknown, context: unknown) => [dump, context],
  };

  const context = { agent: 'support', key: 'user-1' };
  expect(await dumpAgent(agent, 1, 'user-1')).toEqual([1, context]);
  expect(await loadAgent(agent, 2, 'user-1')).toEqual([2, context]);
});

test('without callbacks a state is what it is', async () => {
  for (const agent of ['support', { name: 'support' }]) {
    expect(await dumpAgent(agent, 1)).toBe(1);
    expect(await loadAgent(agent, 2)).toBe(2);
    expect(checkState(agent, 3)).toBeUndefined();
  }
});

test('a callback may return null; one that fails, at once or later, or returns nothing is an error with its cause', async () => {
  const broken = new Error('broken');
  const callbacks: [() => unknown, unknown][] = [
    [() => Promise.reject(broken), broken],
    [() => undefined, expect.any(TypeError)],
    [async () => undefined, expect.any(TypeError)],
    [
      () => {
        throw broken;
      },
      broken,
    ],
  ];

  expect(await dumpAgent({ name: 'support', dump: () => null }, 1)).toBeNull();
  expect(await loadAgent({ name: 'support', load: () => null }, 1)).toBeNull();
  for (const [callback, cause] of callbacks) {
    const agent = { name: 'support', dump: callback, load: callback };
    await expect(dumpAgent(agent, 1)).rejects.toMatchObject({ code: 'dump_failed', cause });
    await expect(loadAgent(agent, 1)).rejects.toMatchObject({ code: 'load_failed', cause });
  }
});

const schema = (validate: StandardSchemaV1['~standard']['validate']): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

test.each<[string, StandardSchemaV1.Issue['path'], string]>([
  ['names', ['a', 0], '$.a.0'],
  ['segments', [{ key: 'a' }, { key: 0 }], '$.a.0'],
  ['nothing', undefined, '$'],
])(
  'a state that does not fit is refused where the schema’s %s say, at once or later',
  async (_how, path, expected) => {
    const issues = [{ message: 'no', ...(path && { path }) }, { message: 'second' }];
    const now = { name: 'support', state: schema(() => ({ issues })) };
    const later = { name: 'support', state: schema(async () => ({ issues })) };

    const refused = { code: 'invalid_state', path: expected };
    expect(() => checkState(now, 1)).toThrow(expect.objectContaining(refused));
    await expect(checkState(later, 1)).rejects.toMatchObject(refused);
  },
);

test('a schema that fails has not accepted the state', async () => {
  const broken = new Error('broken');
  const now = schema(() => {
    throw broken;
  });

  const refused = { code: 'invalid_state', cause: broken };
  expect(() => checkState({ name: 'support', state: now }, 1)).toThrow(expect.objectContaining(refused));
  const later = schema(() => Promise.reject(broken));
  await expect(checkState({ name: 'support', state: later }, 1)).rejects.toMatchObject(refused);
  expect(checkState({ name: 'support', state: schema((value) => ({ value })) }, 1)).toBeUndefined();
});
