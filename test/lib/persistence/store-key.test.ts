import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidKeyError } from '../../../lib/errors.ts';
import { makeStoreKey, storeKeyScope } from '../../../lib/persistence/store-key.ts';
import { mixedUpPairs } from '../../support/mixed-up-pairs.ts';

const part = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }),
  fc
    .array(fc.constantFrom('/', '%', '~', '#', ':', '%2F', '%25', 'a', '\\', '|', ' ', '+'), {
      minLength: 1,
      maxLength: 5,
    })
    .map((parts) => parts.join('')),
);

describe('a store key', () => {
  test('is shared by no two pairs of agent and key, whatever characters they hold', () => {
    fc.assert(
      fc.property(part, part, part, part, (agentA, keyA, agentB, keyB) => {
        const isSame = agentA === agentB && keyA === keyB;
        expect(makeStoreKey({}, agentA, keyA) === makeStoreKey({}, agentB, keyB)).toBe(isSame);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is shared by no two scopes of tenant and agent, nor by a scope and an agent', () => {
    fc.assert(
      fc.property(part, part, part, part, (tenantA, agentA, tenantB, agentB) => {
        const isSame = tenantA === tenantB && agentA === agentB;
        expect(storeKeyScope(tenantA, agentA) === storeKeyScope(tenantB, agentB)).toBe(isSame);
        expect(storeKeyScope(tenantA, agentA)).not.toBe(storeKeyScope(agentB));
      }),
      { numRuns: 2_000 },
    );
  });

  test('parts pairs that other stores have mixed up', () => {
    const pairs = [
      ...mixedUpPairs,
      ...[
        ['é', 'x'],
        ['e\u0301', 'x'],
        ['a', ' x'],
        ['a', 'x '],
        ['a', 'X'],
        ['a', 'x\u0000'],
        ['a', '..'],
        ['a', '.'],
      ],
    ] as const;

    expect(new Set(pairs.map(([agent, key]) => makeStoreKey({}, agent, key))).size).toBe(pairs.length);
  });

  test('is refused for a part that is empty, longer than 512 UTF-8 bytes, no string or half a character', () => {
    for (const bad of [
      '',
      'x'.repeat(513),
      '界'.repeat(171),
      '\ud800',
      7 as never,
      undefined as never,
      null as never,
    ]) {
      expect(() => makeStoreKey({}, 'agent', bad)).toThrow(InvalidKeyError);
      expect(() => makeStoreKey({}, bad, 'key')).toThrow(InvalidKeyError);
    }
    expect(() => makeStoreKey({}, 'x'.repeat(512), '界'.repeat(170))).not.toThrow();
  });

  test('is made by keyFn where one is given, from the agent’s name', () => {
    const keyFn = (agent: string, key: string) => `${key}@${agent}`;

    expect(makeStoreKey({ keyFn }, { name: 'support' }, 'user-1')).toBe('user-1@support');
    expect(makeStoreKey({}, 'a/b~c%', 'd/e~f%')).toBe('a%2Fb%7Ec%25/d/e~f%');
    for (const bad of ['', '\ud800', undefined as never]) {
      expect(() => makeStoreKey({ keyFn: () => bad }, 'support', 'user-1')).toThrow(InvalidKeyError);
    }
  });
});
