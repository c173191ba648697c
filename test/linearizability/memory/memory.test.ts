import { describe, expect, test } from 'vitest';
import type { Forget, Message, Operation, Remember, Selection } from './history.ts';
import { violationsOf } from './laws.ts';
import { simulateMemory } from './simulation.ts';
import type { ValueCall } from './values.ts';

const a: Message = { id: 'a', content: 'a.a', at: 1 };
const b: Message = { id: 'b', content: 'b.a', at: 1 };
const c: Message = { id: 'c', content: 'c.a', at: 1 };
const other: Message = { ...a, content: 'a.b' };
const session: Selection = { of: 'session' };

type Untimed = Operation extends infer One
  ? One extends Operation
    ? Omit<One, 'from' | 'to'>
    : never
  : never;
const remember = (message: Message, fate: Remember['sent'][number]['fate'] = 'ok'): Untimed => ({
  ...{ kind: 'remember', sent: [{ ...message, fate }] },
});
const batch = (...messages: Message[]): Untimed => ({
  ...{ kind: 'remember', sent: messages.map((message) => ({ ...message, fate: 'ok' })) },
});
const forget = (what: Selection, fate: Forget['fate'] = 'ok'): Untimed => ({ kind: 'forget', what, fate });
const compact = (messages: Message[], fate: 'ok' | 'none' | 'unknown' = 'ok', name = 'c1'): Untimed => ({
  ...{ kind: 'compact', made: { name, messages, previous: undefined }, fate },
});
const read = (messages: Message[], capsules: string[] = []): Untimed => ({
  ...{ kind: 'read', messages, capsules, between: 0 },
});

/** One after the other, unless moments are given. */
function lawsBrokenBy(...steps: (Untimed | [Untimed, from: number, to: number])[]): string[] {
  const operations = steps.map((step, index) => {
    const [untimed, from, to] = Array.isArray(step) ? step : [step, 10 * index, 10 * index + 9];
    return {
      ...untimed,
      from,
      to,
      ...(untimed.kind === 'read' && { between: (from + to) / 2 }),
    } as Operation;
  });
  return violationsOf('key', { operations, values: {} }, (id) => `doc-${id}`).map(({ law }) => law);
}

describe('a history of a memory', () => {
  test.each<[string, Parameters<typeof lawsBrokenBy>]>([
    ['what is sent again is the same message', [remember(a), remember(a), read([a])]],
    ['what was forgotten may be sent anew', [remember(a), forget(session), remember(other), read([other])]],
    [
      'what is under way while something is forgotten may come after it',
      [
        [remember(a), 0, 9],
        [forget(session), 1, 5],
        [read([a]), 10, 19],
      ],
    ],
    ['a call that failed may take effect late, or never', [remember(a, 'unknown'), read([]), read([a])]],
    ['a compacted message is in its capsule', [remember(a), compact([a]), remember(a), read([], ['c1'])]],
    [
      'a compaction that failed may remove later',
      [remember(a), compact([a], 'unknown'), read([a], ['c1']), read([], ['c1'])],
    ],
    [
      'a range spares capsules, unless it is to take them',
      [
        remember(a),
        compact([a]),
        forget({ of: 'range', first: 0, last: 2, capsules: false }),
        read([], ['c1']),
      ],
    ],
    [
      'what a capsule held is free when the capsule is forgotten',
      [
        ...[
          remember(a),
          compact([a]),
          forget({ of: 'source', source: 'doc-a' }),
          remember(other),
          read([other]),
        ],
      ],
    ],
    [
      'what a capsule held may come anew, in another order, when the capsule is forgotten for another message of it',
      [
        ...[batch(a, b, c), read([a, b, c]), compact([a, b, c])],
        ...[forget({ of: 'source', source: 'doc-c' }), remember(b), remember(a), read([b, a])],
      ],
    ],
    [
      'of two requests with the same ids, each may store some of them',
      [
        [batch(a, b), 0, 9],
        [batch({ ...a, at: 2 }, b), 0, 9],
        [read([b, a]), 10, 19],
      ],
    ],
  ])('is as it must be: %s', (_what, steps) => {
    expect(lawsBrokenBy(...steps)).toEqual([]);
  });

  test.each<[string, string, Parameters<typeof lawsBrokenBy>]>([
    ['a is lost', 'a was accepted and is lost', [remember(a), read([])]],
    ['it is compacted, and its capsule is not there', 'lost', [remember(a), compact([a]), read([], [])]],
    [
      'another content is removed by the compaction that did not read it',
      'what became of a',
      [remember(a), compact([other], 'unknown'), read([a]), read([])],
    ],
    [
      'accepted under an id that a forgotten capsule has not freed',
      'a was accepted and is lost',
      [remember(a), compact([a]), forget(session), remember(a), read([])],
    ],
    ['what was forgotten is back', 'what became of a', [remember(a), forget(session), read([a])]],
    [
      'what failed before it was forgotten is stored after it',
      'what became of a',
      [remember(a, 'unknown'), forget(session), read([]), read([a])],
    ],
    [
      'a forget of a range leaves what is in it',
      'what became of a',
      [remember(a), forget({ of: 'range', first: 1, last: 1, capsules: false }), read([a])],
    ],
    ['a conflict with nothing', 'what became of a', [remember(a, 'conflict'), read([])]],
    ['two contents are accepted under an id', 'what became of a', [remember(a), remember(other), read([a])]],
    [
      'what one call stores is seen, not seen and seen',
      'what became of a',
      [...[remember(a, 'unknown'), read([a]), read([]), read([a])]],
    ],
    ['a compacted message is raw again', 'what became of a', [remember(a), compact([a]), read([a], ['c1'])]],
    ['a message is read twice', 'a is there twice', [remember(a), read([a, a])]],
    [
      'two of the same time change places',
      'changed their order',
      [...[batch(a, b), read([a, b]), read([b, a])]],
    ],
    ['the order is not that of a call', 'a had arrived before b', [batch(a, b), read([b, a])]],
    ['the order is not that of arrival', 'a had arrived before b', [remember(a), remember(b), read([b, a])]],
    ['a later time stands first', 'stands after', [batch(a, { ...b, at: 0 }), read([a, { ...b, at: 0 }])]],
    [
      'a capsule is back',
      'the capsule c1',
      [...[remember(a), compact([a]), forget(session), read([], []), read([], ['c1'])]],
    ],
    [
      'a capsule that failed is stored after it was forgotten',
      'the capsule c1',
      [...[remember(a), compact([a], 'unknown'), forget(session), read([], []), read([], ['c1'])]],
    ],
    [
      'a compaction that stored nothing has a capsule',
      'the capsule c1',
      [...[remember(a), compact([a], 'none'), read([a], ['c1'])]],
    ],
    [
      'a message is in two capsules',
      'a is in two capsules',
      [...[remember(a), compact([a]), compact([a], 'ok', 'c2'), read([], ['c1', 'c2'])]],
    ],
  ])('is flagged: %s', (_what, law, steps) => {
    expect(lawsBrokenBy(...steps)).toEqual(expect.arrayContaining([expect.stringContaining(law)]));
  });
});

const set = (value: string, fate: 'ok' | 'unknown' = 'ok') => ({ kind: 'set', value, fate }) as const;
const clear = (wasSet?: boolean) => ({ kind: 'forget', fate: 'ok', wasSet }) as const;
const get = (value?: string) => ({ kind: 'get', value }) as const;

function isFlagged(name: string, ...calls: object[]): boolean {
  const history = calls.map((call, index) => ({ ...call, from: 2 * index, to: 2 * index + 1 }) as ValueCall);
  const session = { operations: [], values: { [name]: history } };
  return violationsOf('key', session, () => undefined).length > 0;
}

describe('a history of a value', () => {
  test.each([
    ['the last one stays', [set('a'), set('b'), get('b'), clear(true), get(), clear(false)]],
    ['a call that failed may take effect late', [set('a', 'unknown'), get(), get('a')]],
  ])('is as it must be: %s', (_what, calls) => {
    expect(isFlagged('user key', ...calls)).toBe(false);
    expect(isFlagged('knowledge key', ...calls)).toBe(false);
  });

  test.each([
    ['an earlier one is back', [set('a'), set('b'), get('a')]],
    ['what was forgotten is back', [set('a'), clear(true), get('a')]],
    ['what nobody has set is there', [set('a'), get('b')]],
    ['what was set is not there', [set('a'), get()]],
    ['a key is told to have been set that was not', [clear(true)]],
  ])('is flagged: %s', (_what, calls) => {
    expect(isFlagged('user key', ...calls)).toBe(true);
    expect(isFlagged('knowledge key', ...calls)).toBe(true);
  });

  test('of a session is flagged where what failed before it was forgotten is stored after it', () => {
    const calls = [set('a', 'unknown'), clear(false), get('a')];
    expect(isFlagged('user key', ...calls)).toBe(true);
    expect(isFlagged('knowledge key', ...calls)).toBe(false);
  });
});

test.each([11])(
  'four writers of a session, three in ten requests of whom meet a fault: nothing is lost, twice, or back (seed %i)',
  async (seed) => {
    const findings = await simulateMemory({ seed, keys: 2, writers: 4, callsPerWriter: 3, faultRate: 0.3 });

    expect(findings).toMatchObject({ violations: [], torn: [], orphans: [] });
    expect(findings.requests).toBeGreaterThan(findings.calls);
  },
);
