import { describe, expect, test } from 'vitest';
import { type Call, isExplained, type Operation, type Outcome } from './history.ts';
import { simulateSnapshots } from './simulation.ts';

const put = (content: string, condition?: { is: string } | { absent: true }): Call => ({
  ...{ kind: 'put', content, condition },
});
const forget: Call = { kind: 'forget', condition: undefined };
const get: Call = { kind: 'get' };
const ok = (version?: number): Outcome => ({ status: 'ok', ...(version !== undefined && { version }) });
const found = (content: string, version: number): Outcome => ({ status: 'found', content, version });
const unknown: Outcome = { status: 'unknown' };

/** One after the other, unless moments are given. */
function inTurn(...operations: [Call, Outcome, ...number[]][]): Operation[] {
  return operations.map(([call, outcome, from, to], index) => ({
    ...{ call, outcome, from: from ?? 2 * index, to: to ?? 2 * index + 1 },
  }));
}

describe('a history', () => {
  test.each([
    ['calls one after the other', inTurn([put('a'), ok(1)], [put('b'), ok(2)], [get, found('b', 2)])],
    [
      'calls at once, in the one order that explains them',
      [...inTurn([put('a'), ok(2), 0, 9], [put('b'), ok(1), 0, 9], [get, found('a', 2), 10, 11])],
    ],
    [
      'a call with an unknown outcome that takes effect late',
      inTurn([put('a'), unknown, 0, 1], [get, { status: 'not_found' }, 2, 3], [get, found('a', 1), 4, 5]),
    ],
    [
      'a call with an unknown outcome that never takes effect',
      inTurn([put('a'), unknown], [put('b', { absent: true }), ok(1)], [get, found('b', 1)]),
    ],
  ])('is explained: %s', (_what, history) => {
    expect(isExplained(history)).toBe(true);
  });

  test.each([
    ['what was forgotten is back', inTurn([put('a'), ok(1)], [forget, ok()], [get, found('a', 1)])],
    ['an older write is applied again', inTurn([put('a'), ok(1)], [put('b'), ok(2)], [get, found('a', 3)])],
    [
      'of two first writers both are told that they were',
      inTurn([put('a', { absent: true }), ok(1), 0, 9], [put('b', { absent: true }), ok(1), 0, 9]),
    ],
    ['a write is lost', inTurn([put('a'), ok(1)], [get, { status: 'not_found' }])],
    [
      'a conflict with nothing but itself',
      inTurn([put('a'), ok(1)], [put('b', { is: 'a' }), { status: 'conflict' }]),
    ],
    [
      'one with an unknown outcome takes effect twice',
      inTurn(
        [put('a'), unknown, 0, 1],
        [get, found('a', 1), 2, 3],
        [forget, ok(), 4, 5],
        [get, found('a', 1), 6, 7],
      ),
    ],
  ])('is not explained: %s', (_what, history) => {
    expect(isExplained(history)).toBe(false);
  });
});

test.each([11])(
  'four writers of a key, three in ten requests of whom meet a fault: each call takes effect at most once (seed %i)',
  async (seed) => {
    const findings = await simulateSnapshots({
      seed,
      keys: 6,
      writers: 4,
      callsPerWriter: 5,
      faultRate: 0.3,
    });

    expect(findings).toMatchObject({ violations: [], torn: [], orphans: [] });
    expect(findings.requests).toBeGreaterThan(findings.calls);
  },
);
