import { expect, test } from 'vitest';
import { ConflictError, CorruptError, TooLargeError, UnavailableError } from '../../../lib/errors.ts';
import { asPersistenceError } from '../../../lib/persistence/persistence-result.ts';

test('what a store rejects with is unavailable, and not worth a retry, unless it is one of ours', () => {
  const own = new CorruptError('x');
  const foreign = new TypeError('y'.repeat(1_000));

  expect(asPersistenceError(own)).toBe(own);
  const unavailable = asPersistenceError(foreign);
  expect(unavailable).toMatchObject({ code: 'unavailable', retryable: false, cause: foreign });
  expect(unavailable.message).toMatch(/TypeError: y+\)$/);
  expect(unavailable.message.length).toBeLessThan(400);
  expect(asPersistenceError('away').message).toContain('thrown: away');
});

test('a store that is away may be asked again, unless it says otherwise', () => {
  expect(new UnavailableError('x')).toMatchObject({ retryable: true, throttled: false });
  expect(new UnavailableError('x', {})).toMatchObject({ retryable: true, throttled: false });
  expect(new UnavailableError('x', { retryable: false, throttled: true })).toMatchObject({
    ...{ retryable: false, throttled: true },
  });
});

test('a conflict says whether something is stored; a size says whether it is known', () => {
  expect(new ConflictError(undefined).message).toContain('nothing is stored');
  expect(new ConflictError('e').message).toContain('another one');
  expect(new TooLargeError(7, 5).message).toBe('the state is 7 bytes, the limit is 5');
  expect(new TooLargeError(undefined, 5).message).toBe('the state is more than 5 bytes, the limit is 5');
});
