import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnavailableError } from '../../lib/errors.ts';
import { messageOf } from '../../lib/message-of.ts';

const failing = (): never => {
  throw new Error('not to be read');
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const hostile = () =>
  new Proxy(new Error('x'), { get: failing, has: failing, getPrototypeOf: failing, ownKeys: failing });

test.each<[string, unknown, string]>([
  ['an error', new Error('boom'), 'boom'],
  ['an error of another realm', runInNewContext("new TypeError('elsewhere')"), 'elsewhere'],
  ['a text', 'no model', 'no model'],
  [
    "an object of a database's client",
    { message: 'row-level security refused it', code: '42501' },
    'row-level security refused it (42501)',
  ],
  ['a result with its message beside it', { status: 'error', message: 'quota exceeded' }, 'quota exceeded'],
  ['an answer with an error in it', { error: { message: 'overloaded', type: 'x' } }, 'overloaded'],
  ['an answer with a list of errors', { errors: [{ message: 'a' }, { message: 'b' }] }, 'a; b'],
  ['a problem', { title: 'Not found', detail: 'no such thing', status: 404 }, 'no such thing'],
  ['an object with nothing but a code', { code: 'E_FULL' }, 'E_FULL'],
  ['a DOMException', new DOMException('it was aborted', 'AbortError'), 'it was aborted'],
  [
    'an error with a cause',
    new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
    'fetch failed; caused by: connect ECONNREFUSED',
  ],
  [
    'an error whose cause it says already',
    new Error('failed: no room', { cause: new Error('no room') }),
    'failed: no room',
  ],
  [
    'several errors at once',
    new AggregateError([new Error('a'), new Error('b'), 'c', 'd', 'e'], 'all failed'),
    'all failed; a; b; c; and 2 more',
  ],
  ['several errors without a word of their own', new AggregateError([new Error('a')]), 'a'],
  ['one of our errors with a cause', new UnavailableError('away', { cause: new Error('secret') }), 'away'],
  ['an error without a message', new RangeError(), 'RangeError'],
  ['a list of errors', [new Error('one'), { message: 'two' }], 'one; two'],
  ['an answer to a request', new Response('', { status: 429, statusText: 'Slow Down' }), 'Slow Down'],
  ['an answer without a word', { response: { x: 1 }, statusCode: 503 }, 'status 503'],
  ['a bigint', 42n, 'a thrown bigint: 42'],
  ['a symbol', Symbol('gone'), 'a thrown symbol: Symbol(gone)'],
  ['undefined', undefined, 'a thrown undefined'],
  ['null', null, 'a thrown null'],
  ['a number', 42, 'a thrown number: 42'],
  ['an empty text', '', 'a thrown string'],
  ['an object that says nothing', { some: 'thing' }, 'a thrown object'],
  ['a revoked proxy', revoked(), 'a thrown object'],
  ['an error that cannot be read', hostile(), 'a thrown object'],
  ['an error with an unreadable cause', new Error('x', { cause: revoked() }), 'x'],
])('of %s the message is kept', (_what, thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each<[string, () => unknown]>([
  ['text', () => 'x'.repeat(50_000_000)],
  ['message', () => new Error('x'.repeat(50_000_000))],
  ['list of errors', () => new AggregateError(new Array(1_000_000).fill(new Error('y'.repeat(20_000))))],
  ['chain of causes', () => causes(10_000)],
])('however long its %s, a message is short', (_what, thrown) => {
  expect(messageOf(thrown()).length).toBeLessThanOrEqual(10_000);
});

test('an error that is its own cause, or part, says it once', () => {
  const own = Object.assign(new AggregateError([], 'round'), { cause: undefined as unknown });
  own.cause = own;
  own.errors.push(own);

  expect(messageOf(own)).toBe('round');
});

test('whatever is thrown has a message', () => {
  void fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true }), (thrown) => {
      const message = messageOf(thrown);
      expect(typeof message).toBe('string');
      expect(message).not.toBe('');
    }),
    { numRuns: 100 },
  );
});

function causes(count: number): Error {
  let error = new Error('the first');
  for (let link = 0; link < count; link++) error = new Error(`link ${link}`, { cause: error });
  return error;
}
