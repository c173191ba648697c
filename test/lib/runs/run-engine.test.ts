import { expect, test } from 'vitest';
import { jobPageSize } from '../../../lib/defaults.ts';
import { engineUnderTest } from '../../support/engine-under-test.ts';

test.each([1, jobPageSize])('a page may have %d jobs', (pageSize) => {
  expect(engineUnderTest({}, { pageSize }).engine.pageSize).toBe(pageSize);
});

test.each([0, -1, 1.5, Number.NaN, jobPageSize + 1])('a page of %d jobs is refused', (pageSize) => {
  expect(() => engineUnderTest({}, { pageSize })).toThrow(expect.objectContaining({ field: 'pageSize' }));
});
