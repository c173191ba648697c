import { expect, test } from 'vitest';
import { InvalidInputError, NotStoredError, UnavailableError } from '../../../lib/errors.ts';

test('what was not stored can be sent again where its cause says so', () => {
  const busy = new UnavailableError('busy', { retryable: true, throttled: true });
  const away = new UnavailableError('away', { retryable: false, throttled: false });

  expect(new NotStoredError(['a', 'b'], busy)).toMatchObject({
    ...{ ids: ['a', 'b'], cause: busy, retryable: true, throttled: true },
  });
  for (const cause of [away, new Error('bug'), undefined])
    expect(new NotStoredError(['a'], cause)).toMatchObject({ cause, retryable: false, throttled: false });
});

test('the message of bad input names its field once', () => {
  expect(new InvalidInputError('limit', 'must be a number').message).toBe('limit: must be a number');
  expect(new InvalidInputError('hours', 'hours and since cannot be combined').message).toBe(
    'hours and since cannot be combined',
  );
});
