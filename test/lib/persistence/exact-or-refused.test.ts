import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { InvalidStateError } from '../../../lib/errors.ts';
import { memoryStore } from '../../../lib/index.ts';
import { decodeState, encodeState } from '../../../lib/persistence/codec.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';

/** Values whose own code answers when they are read. `ran` tells whether any of it did. */
const withCode: readonly [string, (ran: () => unknown) => unknown, path: string][] = [
  ['a getter', (ran) => Object.defineProperty({}, 'at', { get: ran, enumerable: true }), '["at"]'],
  ['a setter', (ran) => Object.defineProperty({}, 'at', { set: ran, enumerable: true }), '["at"]'],
  ['a getter in an array', (ran) => Object.defineProperty([1], 0, { get: ran, enumerable: true }), '[0]'],
  [
    'a property `then`',
    (ran) => Object.defineProperty({}, 'then', { get: ran, enumerable: true }),
    '["then"]',
  ],
  ['a Proxy', (ran) => new Proxy({ x: 1 }, { get: ran, ownKeys: () => [ran()] as string[] }), ''],
  ['a Proxy of an array', (ran) => new Proxy([1], { get: ran }), ''],
  [
    'a revoked Proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
    '',
  ],
];

/** Values that are more than what their prototype says. */
const inDisguise: readonly [string, () => unknown][] = [
  ['a Map', () => new Map([['a', 1]])],
  ['a Set', () => new Set([1])],
  ['a Date', () => new Date(0)],
  ['a list', () => [1]],
  ['bytes', () => Uint8Array.of(1)],
  ['a buffer', () => new ArrayBuffer(1)],
  ['a boxed number', () => Object(1)],
  ['an error', () => new Error('x')],
  ['a promise', () => Promise.resolve(1)],
];

const key = fc.string().filter((name) => name !== '__proto__');
/** A place in a state, from the inside: what stands around the value there, and how its path goes on. */
const around = fc.oneof(
  key.map((name) => ({ wrap: (value: unknown) => ({ [name]: value }), path: `[${JSON.stringify(name)}]` })),
  fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant([{ a: null }]))).map((before) => ({
    wrap: (value: unknown) => [...before, value],
    path: `[${before.length}]`,
  })),
  key.map((name) => ({
    wrap: (value: unknown) => new Map([[name, value]]),
    path: `.get(${JSON.stringify(name)})`,
  })),
);
const place = fc.array(around, { maxLength: 4 });

/** With each word in brackets, so that a name is written in one way. */
const normalized = (path: string | undefined) =>
  path?.replace(/\.([\p{ID_Start}$_][\p{ID_Continue}$]*)(?!\()/gu, '["$1"]');

function refusal(state: unknown): InvalidStateError {
  try {
    encodeState(state);
  } catch (error) {
    if (error instanceof InvalidStateError) return error;
    throw error;
  }
  throw new Error('it was stored');
}

describe('a state is stored exactly, or refused by its path', () => {
  test.each(withCode)('wherever it stands, none of the code of %s runs', (_name, make, within) => {
    fc.assert(
      fc.property(place, (layers) => {
        const ran = vi.fn(() => 1);
        const state = layers.reduceRight((value: unknown, { wrap }) => wrap(value), make(ran));
        const path = `$${layers.map(({ path: part }) => part).join('')}${within}`;

        expect(normalized(refusal(state).path)).toBe(normalized(path));
        expect(ran).not.toHaveBeenCalled();
      }),
    );
  });

  test.each(inDisguise)('%s under the prototype of another type is no plain object', (_name, make) => {
    for (const prototype of [Object.prototype, null, Map.prototype, Date.prototype, String.prototype]) {
      const value = make();
      if (Object.getPrototypeOf(value) === prototype) continue;
      const state = { x: Object.setPrototypeOf(value, prototype) };

      expect(refusal(state).path).toBe('$.x');
    }
  });

  test.each([
    ['a Date', () => new Date(0)],
    ['a Map', () => new Map()],
    ['a Set', () => new Set()],
    ['a boxed number', () => Object(1)],
    ['a URL', () => new URL('https://example.com/')],
    ['a buffer', () => new ArrayBuffer(2)],
    ['a DataView', () => new DataView(new ArrayBuffer(2))],
    ['a pattern', () => /x/],
    ['a boxed string, behind its end', () => Object('ab')],
  ])('a property of its own that is a number or a length is one all the same: %s', (_name, make) => {
    for (const name of ['2', '7', ...(make() instanceof String ? [] : ['0', 'length'])])
      expect(refusal({ x: Object.assign(make(), { [name]: 1 }) }).path).toBe('$.x');
  });

  test.each([1n, -1n])('a bigint is stored up to the limit, and refused at once beyond it: %s', (sign) => {
    const longest = sign * (10n ** 9_999n - 1n);
    const endless = sign << 100_000_000n;

    expect(decodeState('rich', encodeState([longest]).data)).toEqual([longest]);
    expect(refusal({ x: longest + sign }).path).toBe('$.x');
    expect(refusal([new Map([['x', Object(endless)]])]).path).toBe('$[0].get("x")');
    expect(refusal(endless).path).toBe('$');
  });

  test.each<[string, () => unknown]>([
    ['a promise that never settles', () => new Promise(() => {})],
    ['a promise of a state', () => Promise.resolve({ a: 1 })],
    // biome-ignore lint/suspicious/noThenProperty: the case
    ['a thenable', () => ({ then() {} })],
  ])('a state that is %s is refused, not waited for', async (_name, make) => {
    const result = await hibernate({ store: memoryStore() }, 'support', 'k', make());

    expect(result).toMatchObject({ status: 'error', error: { code: 'invalid_state' } });
  });
});

test('options are those at the call, whatever becomes of them', async () => {
  const store = memoryStore();
  const name = 'support';
  const later = { name, dump: async (state: unknown) => state };
  await hibernate({ store }, name, 'k', { n: 1 });
  const ifMatch = ['"another"'];
  const options: { ifMatch?: string[]; ttlSeconds?: number } = { ifMatch };

  const saved = hibernate({ store }, later, 'k', { n: 2 }, options);
  delete options.ifMatch;
  options.ttlSeconds = 1;
  ifMatch.length = 0;

  expect(await saved).toMatchObject({ status: 'error', error: { code: 'conflict' } });
  expect(await thaw({ store }, name, 'k')).toMatchObject({ status: 'ok', agent: { n: 1 } });
});
