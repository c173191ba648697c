import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonMaxDepth } from '../../../lib/defaults.ts';
import { jsonText } from '../../../lib/persistence/json-text.ts';
import { serializeValue } from '../../../lib/persistence/serialize-value.ts';
import { deepJson } from '../../support/deep-json.ts';

/** Beyond what the stack takes, in any shape. */
const beyond = deepJson(5_000)['objects with a number for a name'] ?? '';

describe('the text of a JSON tree', () => {
  test.each(Object.entries(deepJson(jsonMaxDepth)))(
    'is there at every depth that is taken, whatever the engine makes of its shape: %s',
    (_shape, text) => {
      const value: unknown = JSON.parse(text);

      expect(jsonText({ items: [value] })).toBe(`{"items":[${text}]}`);
      expect(jsonText({ items: [serializeValue(value)] })).toBe(`{"items":[${text}]}`);
    },
  );

  test('is that of JSON.stringify, also where the native one would have ended with the stack', () => {
    const withUndefined = fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined }));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), withUndefined), (value) => {
        const within = { toJSON: 1, at: new Date(0), list: [value, undefined], value };
        expect(jsonText([within, JSON.parse(beyond)])).toBe(`[${JSON.stringify(within)},${beyond}]`);
      }),
      { numRuns: 20 },
    );
  });

  test('of what never ends is refused, not written for ever', () => {
    const cycle: Record<string, unknown> = {};
    let deepest = cycle;
    for (let level = 0; level < 50_000; level++) {
      deepest[1] = {};
      deepest = deepest[1] as Record<string, unknown>;
    }
    deepest[1] = cycle;

    expect(() => jsonText(cycle)).toThrow(RangeError);
  });
});
