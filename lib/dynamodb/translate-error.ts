import { messageOf } from '../errors.ts';
import { PersistenceError, UnavailableError } from '../persistence/persistence-error.ts';

const throttling = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'ThrottledException',
  'LimitExceededException',
]);

/** What the SDK gives up on at once, because repeating the same call cannot help. */
const permanent = new Set([
  'AccessDeniedException',
  'ResourceNotFoundException',
  'ValidationException',
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'ItemCollectionSizeLimitExceededException',
]);

export function isConditionFailure(error: unknown): error is Error {
  return nameOf(error) === 'ConditionalCheckFailedException';
}

/** True when the SDK sent the request more than once, so that an earlier try may have been the one that took effect. */
export function wasRetried(error: unknown): boolean {
  const attempts = (error as { $metadata?: { attempts?: number } }).$metadata?.attempts;
  return (attempts ?? 1) > 1;
}

/** Any error of the SDK, of the network or of a credential provider as a `PersistenceError`. */
export function translateError(error: unknown): PersistenceError {
  if (error instanceof PersistenceError) return error;
  const name = nameOf(error);
  const throttled = throttling.has(name);
  const what = throttled ? 'DynamoDB throttled the request' : `DynamoDB failed (${name || messageOf(error)})`;
  return new UnavailableError(what, { cause: error, throttled, retryable: !permanent.has(name) });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
