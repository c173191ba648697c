import { describe, expect, test } from 'vitest';
import { actionNames, tellActionNames } from '../../../lib/agents/actions.ts';
import { defineAgent, InvalidDefinitionError } from '../../../lib/index.ts';
import { actionHandler } from '../../../lib/runs/action-handler.ts';

const digest = () => 'done';

/** A definition that resolves this, and how often it was asked. */
function lazily(module: () => unknown, more: object = {}) {
  let loads = 0;
  const definition = defineAgent({
    name: 'support',
    actions: (async () => {
      loads++;
      return module();
    }) as never,
    ...more,
  });
  return { definition, loads: () => loads };
}

describe('actions that a definition resolves', () => {
  test.each([
    ['a default export', () => ({ default: { digest } })],
    ['named exports', () => ({ digest })],
  ])('as %s are found, and loaded once', async (_what, module) => {
    const { definition, loads } = lazily(module);
    expect(loads()).toBe(0);

    const [handler, again] = await Promise.all([
      actionHandler(definition, 'digest'),
      actionHandler(definition, 'digest'),
    ]);

    expect([handler, again]).toEqual([digest, digest]);
    expect(await actionHandler(definition, 'toString')).toBeUndefined();
    expect(await actionHandler(definition, 'prune-raw-memory')).toBeTypeOf('function');
    expect(await actionNames(definition)).toEqual(['digest', 'prune-raw-memory']);
    expect(loads()).toBe(1);
  });

  test('whose names are told are not loaded for their names', async () => {
    const { definition, loads } = lazily(() => ({ digest }));
    tellActionNames(definition, ['digest', 'prune-raw-memory']);

    expect(await actionNames(definition)).toEqual(['digest', 'prune-raw-memory']);
    expect(loads()).toBe(0);
  });

  test('that could not be loaded are tried again', async () => {
    const answers: (() => unknown)[] = [
      () => {
        throw new Error('no such module');
      },
      () => ({ digest }),
    ];
    const { definition } = lazily(() => answers.shift()?.());

    await expect(actionHandler(definition, 'digest')).rejects.toThrow('no such module');
    expect(await actionHandler(definition, 'digest')).toBe(digest);
  });

  test.each<[string, unknown, RegExp, object?]>([
    ['nothing', undefined, /'support': its actions resolve to no object of handlers/],
    ['a text', 'digest', /resolve to no object/],
    ['a Map', { default: new Map([['digest', digest]]) }, /resolve to no object/],
    ['a default export that is null', { default: null, digest: 1 }, /action 'default' must be a function/],
    ['what is no function', { digest: 'x' }, /'support': action 'digest' must be a function/],
    ['a generator', { *digest() {} }, /action 'digest' must not be a generator/],
    [
      'not what a schedule runs',
      { digest },
      /schedule 'nightly' runs the action 'digst', which the agent does not have/,
      { schedules: [{ name: 'nightly', cron: '@daily', action: 'digst' }] },
    ],
  ])('and that are %s are refused by name', async (_what, module, message, more = {}) => {
    const { definition } = lazily(() => module, more);

    const resolving = actionHandler(definition, 'digest');

    await expect(resolving).rejects.toThrow(InvalidDefinitionError);
    await expect(resolving).rejects.toThrow(message);
  });
});
