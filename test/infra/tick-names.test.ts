import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tickName, tickNamePrefix } from '../../infra/constructs/tick-names.ts';

const stack = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,63}$/).map((stage) => `dormouse-${stage}`);
const word = (max: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${max - 1}}$`));
const tick = fc.record({ agent: word(128), schedule: word(48), index: fc.nat(1) });

describe('the name of a rule', () => {
  test('is one that EventBridge takes, and begins with the prefix of its stack', () => {
    fc.assert(
      fc.property(stack, tick, (stackName, named) => {
        const name = tickName(stackName, named);

        expect(name).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
        expect(name.startsWith(tickNamePrefix(stackName))).toBe(true);
      }),
    );
  });

  test('is the same each time, and no other tick has it', () => {
    fc.assert(
      fc.property(stack, tick, tick, (stackName, one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);

        expect(tickName(stackName, { ...one })).toBe(tickName(stackName, one));
        expect(tickName(stackName, one) === tickName(stackName, other)).toBe(isSame);
      }),
    );
  });

  test('begins like that of no other stack', () => {
    fc.assert(
      fc.property(stack, stack, tick, (one, other, named) => {
        fc.pre(one !== other);

        expect(tickName(other, named).startsWith(tickNamePrefix(one))).toBe(false);
      }),
    );
    expect(tickNamePrefix('dormouse-dev')).toBe('dormouse-dev_');
    expect(tickName('dormouse-dev-2', { agent: 'a', schedule: 's', index: 0 })).not.toMatch(/^dormouse-dev_/);
  });

  test('parts what joins to the same words', () => {
    const names = [
      tickName('dormouse-dev', { agent: 'a', schedule: 'b_c', index: 0 }),
      tickName('dormouse-dev', { agent: 'a_b', schedule: 'c', index: 0 }),
    ];

    expect(new Set(names).size).toBe(2);
  });
});
