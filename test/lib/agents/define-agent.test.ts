import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../../lib/agents/agent-definition.ts';
import { defineAgent, indexAgents } from '../../../lib/agents/define-agent.ts';
import { InvalidDefinitionError } from '../../../lib/agents/invalid-definition-error.ts';

const retention = {
  name: 'default',
  rawRetentionSecs: 2_592_000,
  capsuleRetentionSecs: null,
  compactAfterSecs: 604_800,
  exportAllowed: true,
  forgetAllowed: true,
  metadata: {},
};

describe('an agent definition', () => {
  test('is returned as it was given', () => {
    const definition = {
      name: 'support',
      retention,
      actions: { 'daily-digest': async () => 'ok' },
      schedules: [
        { name: 'digest', cron: '0 8 * * *', action: 'daily-digest' },
        { name: 'prune', cron: '0 * * * *', action: 'prune-raw-memory' },
      ],
    };

    expect(defineAgent(definition)).toBe(definition);
  });

  const refused: [string, AgentDefinition, RegExp][] = [
    ['a name with a slash', { name: 'a/b' }, /agent "a\/b": the name must match/],
    ['an empty name', { name: '' }, /the name must match/],
    ['a name of 129 characters', { name: 'x'.repeat(129) }, /the name must match/],
    ['no name', {} as never, /the name must match/],
    ['nothing in it', undefined as never, /an agent definition must be an object/],
    ...['retention', 'actions', 'limits'].flatMap((part) =>
      [null, [], 'x'].map((value): [string, AgentDefinition, RegExp] => [
        `${JSON.stringify(value)} as its ${part}`,
        { name: 'a', [part]: value },
        new RegExp(`'a': ${part} must be an object`),
      ]),
    ),
    ['schedules in an object', { name: 'a', schedules: {} as never }, /'a': schedules must be an array/],
    [
      'a schedule that is none',
      { name: 'a', schedules: [null as never] },
      /'a': a schedule must be an object/,
    ],
    ['a dump that is no function', { name: 'a', dump: 'x' as never }, /'a': dump must be a function/],
    ['a load that is no function', { name: 'a', load: {} as never }, /'a': load must be a function/],
    [
      'a state that is no Standard Schema',
      { name: 'a', state: {} as never },
      /'a': state must be a Standard Schema/,
    ],
    [
      'an action that is no function',
      { name: 'a', actions: { x: 1 as never } },
      /'a': action 'x' must be a function/,
    ],
    [
      'an action without a name',
      { name: 'a', actions: { '': () => 1 } },
      /'a': the name of an action must be/,
    ],
    [
      'an action whose name no job could carry',
      { name: 'a', actions: { ['x'.repeat(513)]: () => 1 } },
      /'a': the name of an action is 513 bytes, the limit is 512/,
    ],
    [
      'a Map of actions',
      { name: 'a', actions: new Map([['x', () => 1]]) as never },
      /'a': actions must be an object/,
    ],
    [
      'a policy without a name',
      { name: 'a', retention: { ...retention, name: undefined as never } },
      /'a': retention.name must be a string/,
    ],
    ...(
      [
        ['a generator', function* () {}, 'must not be a generator'],
        ['an async generator', async function* () {}, 'must not be a generator'],
        ['a class', class Digest {}, 'must be a function, not a class'],
      ] as const
    ).flatMap(([what, given, problem]): [string, AgentDefinition, RegExp][] => [
      [
        `${what} as an action`,
        { name: 'a', actions: { x: given as never } },
        new RegExp(`'a': action 'x' ${problem}`),
      ],
      [`${what} as its dump`, { name: 'a', dump: given as never }, new RegExp(`'a': dump ${problem}`)],
    ]),
    ...['rawRetentionSecs', 'capsuleRetentionSecs', 'compactAfterSecs'].flatMap((field) =>
      [3_153_600_001, 8.64e12, Number.MAX_SAFE_INTEGER, -3_153_600_001].map(
        (seconds): [string, AgentDefinition, RegExp] => [
          `a ${field} of ${seconds}`,
          { name: 'a', retention: { ...retention, rawRetentionSecs: null, [field]: seconds } },
          new RegExp(`'a': retention.${field} must be at most 3153600000 seconds \\(100 years\\), or null`),
        ],
      ),
    ),
    [
      'a retention in fractions of seconds',
      { name: 'a', retention: { ...retention, rawRetentionSecs: 0.5 } },
      /'a': retention.rawRetentionSecs must be whole seconds or null/,
    ],
    [
      'a policy that drops messages before they are compacted',
      { name: 'a', retention: { ...retention, compactAfterSecs: 2_592_001 } },
      /'a': retention.compactAfterSecs is longer than rawRetentionSecs/,
    ],
    [
      'a permission that is no boolean',
      { name: 'a', retention: { ...retention, forgetAllowed: 'no' as never } },
      /'a': retention.forgetAllowed must be true or false/,
    ],
    ...[0, -1, Number.NaN, 2_000_000, '60' as never].map(
      (sessionTimeoutSecs): [string, AgentDefinition, RegExp] => [
        `a session's time of ${sessionTimeoutSecs} s`,
        { name: 'a', limits: { sessionTimeoutSecs } },
        /'a': limits.sessionTimeoutSecs must be a number above 0/,
      ],
    ),
    ...[0, -1, 1.5, Number.NaN].flatMap((value) =>
      ['sessionConcurrency', 'maxErrors'].map((field): [string, AgentDefinition, RegExp] => [
        `a ${field} of ${value}`,
        { name: 'a', limits: { [field]: value } },
        new RegExp(`'a': limits.${field} must be a whole number above 0`),
      ]),
    ),
    ...(
      [
        ['scedules', { scedules: [] }, "'a': there is no field 'scedules'; did you mean 'schedules'\\?"],
        ['Load', { Load: () => 1 }, "there is no field 'Load'; did you mean 'load'\\?"],
        ['action', { action: {} }, "there is no field 'action'; did you mean 'actions'\\?"],
        ['x', { x: 1 }, "there is no field 'x'; there are: name, state, dump, load"],
        ['__proto__ of its own', JSON.parse('{"__proto__":1}'), "there is no field '__proto__'"],
        [
          'retention.rawRetentionSec',
          { retention: { ...retention, rawRetentionSec: 1 } },
          "retention: there is no field 'rawRetentionSec'; did you mean 'rawRetentionSecs'\\?",
        ],
        [
          'limits.maxError',
          { limits: { maxError: 1 } },
          "limits: there is no field 'maxError'; did you mean 'maxErrors'\\?",
        ],
        [
          'timeZone of a schedule',
          { schedules: [{ name: 'n', cron: '@daily', action: 'prune-raw-memory', timeZone: 'UTC' }] },
          "schedule 'n': there is no field 'timeZone'; did you mean 'timezone'\\?",
        ],
      ] as const
    ).map(([field, given, problem]): [string, AgentDefinition, RegExp] => [
      `the misspelled field ${field}`,
      Object.defineProperties({ name: 'a' }, Object.getOwnPropertyDescriptors(given)),
      new RegExp(problem),
    ]),
    [
      'two schedules of one name',
      {
        name: 'a',
        actions: { x: () => 1 },
        schedules: [
          { name: 'n', cron: '0 2 * * *', action: 'x' },
          { name: 'n', cron: '0 3 * * *', action: 'x' },
        ],
      },
      /'a': two schedules are named 'n'/,
    ],
    [
      'a schedule of an action that it does not have',
      { name: 'a', schedules: [{ name: 'n', cron: '0 2 * * *', action: 'toString' }] },
      /'a': schedule 'n' runs the action 'toString'/,
    ],
  ];
  test.each(refused)('with %s is refused by name', (_what, definition, message) => {
    expect(() => defineAgent(definition)).toThrow(InvalidDefinitionError);
    expect(() => defineAgent(definition)).toThrow(message);
  });

  test('may have an action that is named as a keyword', () => {
    const actions = { class() {}, class$x() {}, async class_() {}, function() {} };

    expect(defineAgent({ name: 'a', actions }).actions).toBe(actions);
  });

  test('is found by its name, which no other has', () => {
    const support = defineAgent({ name: 'support' });

    expect(indexAgents([support]).get('support')).toBe(support);
    expect(() => indexAgents([support, support])).toThrow(/two agents are named 'support'/);
    expect(() => indexAgents({} as never)).toThrow(/must default-export an array/);
  });

  test('are found in the exports of a module that was transpiled to CommonJS', () => {
    const support = defineAgent({ name: 'support' });
    const exported = { __esModule: true, default: [support] };

    expect(indexAgents(exported as never).get('support')).toBe(support);
    expect(() => indexAgents({ ...exported, default: {} } as never)).toThrow(/must default-export an array/);
  });
});
