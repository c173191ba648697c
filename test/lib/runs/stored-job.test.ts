import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jobResultMaxBytes } from '../../../lib/defaults.ts';
import { storedResult } from '../../../lib/runs/stored-job.ts';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test('nothing is null', () => {
  expect([undefined, null].map(storedResult)).toEqual([null, null]);
});

test('a text, or an object, is kept whole up to the limit, and cut above it', () => {
  const text = 'x'.repeat(jobResultMaxBytes - 2);
  const object = { text: 'x'.repeat(jobResultMaxBytes - 11) };

  expect([bytesOf(text), bytesOf(object)]).toEqual([jobResultMaxBytes, jobResultMaxBytes]);
  expect([text, object].map(storedResult)).toEqual([text, object]);
  expect(storedResult(`${text}x`)).toMatch(/^x+…$/);
  expect(storedResult({ text: `${object.text}x` })).toMatch(/^\{"text":"x+…$/);
});

test.each(['x', 'ä', '字', '😀', '\u0001', '\ud800'])(
  'a long text of %j fits, begins as it did, and is not needlessly short',
  (char) => {
    const text = char.repeat(jobResultMaxBytes);
    const kept = storedResult(text) as string;

    expect(bytesOf(kept)).toBeLessThanOrEqual(jobResultMaxBytes);
    expect(bytesOf(kept)).toBeGreaterThan(jobResultMaxBytes / 4);
    expect(text.toWellFormed().startsWith(kept.slice(0, -1).replace(/\ufffd$/, ''))).toBe(true);
  },
);

test('whatever a handler returns fits, and comes back from JSON as it is', () => {
  void fc.assert(
    fc.property(fc.anything({ withBigInt: true, withMap: true, withDate: true }), (result) => {
      const kept = storedResult(result);
      expect(bytesOf(kept)).toBeLessThanOrEqual(jobResultMaxBytes);
      expect(JSON.parse(JSON.stringify(kept))).toEqual(kept);
    }),
    { numRuns: 100 },
  );
});
