import { expect, test } from 'vitest';
import { checkPolicy, DEFAULT_RETENTION, secondsOf } from '../../../lib/memory/retention.ts';

test.each([null, undefined, 'default', 7, {}, { ...DEFAULT_RETENTION, rawRetentionSecs: '30' }])(
  '%o is no retention policy',
  (policy) => {
    expect(() => checkPolicy(policy as never)).toThrow(expect.objectContaining({ field: 'policy' }));
  },
);

test('a policy is what was given; a duration of nothing keeps for ever', () => {
  expect(checkPolicy(DEFAULT_RETENTION)).toBe(DEFAULT_RETENTION);
  expect([null, 0, -1, 1].map(secondsOf)).toEqual([undefined, undefined, undefined, 1]);
});
