import { expect, test } from 'vitest';
import { checkPolicy, DEFAULT_RETENTION, secondsOf } from '../../../lib/memory/retention.ts';

test.each([null, undefined, 'default', 7, {}, { ...DEFAULT_RETENTION, rawRetentionSecs: '30' }])(
  '%o is no retention policy',
  (policy) => {
    expect(() => checkPolicy(policy as never)).toThrow(expect.objectContaining({ field: 'policy' }));
  },
);

const longest = 3_153_600_000;

test.each<[string, object]>([
  ['name', { name: undefined }],
  ['rawRetentionSecs', { rawRetentionSecs: 0.5 }],
  ['capsuleRetentionSecs', { capsuleRetentionSecs: longest + 1 }],
  ['compactAfterSecs', { compactAfterSecs: -longest - 1 }],
  ['compactAfterSecs', { rawRetentionSecs: 60, compactAfterSecs: 61 }],
  ['exportAllowed', { exportAllowed: 'no' }],
  ['forgetAllowed', { forgetAllowed: undefined }],
])('a bad %s is refused by name: %o', (field, bad) => {
  expect(() => checkPolicy({ ...DEFAULT_RETENTION, ...bad })).toThrow(
    expect.objectContaining({ field: 'policy', message: expect.stringContaining(`${field} `) }),
  );
});

test.each([
  { rawRetentionSecs: longest, capsuleRetentionSecs: -longest },
  { rawRetentionSecs: 60, compactAfterSecs: 60 },
  { rawRetentionSecs: 60, compactAfterSecs: null },
  { rawRetentionSecs: 0, compactAfterSecs: 60 },
  { rawRetentionSecs: null, compactAfterSecs: 60 },
])('a policy may be %o', (fields) => {
  const policy = { ...DEFAULT_RETENTION, ...fields };

  expect(checkPolicy(policy)).toBe(policy);
});

test('a policy is what was given; a duration of nothing keeps for ever', () => {
  expect(checkPolicy(DEFAULT_RETENTION)).toBe(DEFAULT_RETENTION);
  expect([null, 0, -1, 1].map(secondsOf)).toEqual([undefined, undefined, undefined, 1]);
});
