import { messageOf } from './errors.ts';
import { UnavailableError } from './persistence/persistence-error.ts';

/** How AWS services ask to be called less often, or say that KMS asked them. */
const throttling = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'ThrottledException',
  'LimitExceededException',
  'RequestThrottled',
  'OverLimit',
  'KmsThrottled',
]);

/** What the SDK gives up on at once, because repeating the same call cannot help. */
const permanent = new Set([
  'AccessDeniedException',
  'ResourceNotFoundException',
  'ValidationException',
  'UnrecognizedClientException',
  'ExpiredTokenException',
  'ItemCollectionSizeLimitExceededException',
  // Of SQS, some under the names of its older protocol.
  ...['AccessDenied', 'QueueDoesNotExist', 'NonExistentQueue', 'QueueDeletedRecently'],
  ...['InvalidAddress', 'InvalidSecurity', 'InvalidClientTokenId', 'UnsupportedOperation'],
  ...['InvalidMessageContents', 'BatchRequestTooLong'],
  ...['KmsAccessDenied', 'KmsDisabled', 'KmsInvalidKeyUsage', 'KmsInvalidState', 'KmsNotFound'],
  'KmsOptInRequired',
]);

/** Any error of the SDK, of the network or of a credential provider. */
export function awsError(service: string, error: unknown): UnavailableError {
  const name = error instanceof Error ? error.name : '';
  return awsFailure(service, name || messageOf(error), error);
}

/** A failure that a service names by a code, with or without the service's own name before it. */
export function awsFailure(service: string, code: string, cause?: unknown): UnavailableError {
  const name = code.slice(code.lastIndexOf('.') + 1);
  const throttled = throttling.has(name);
  const what = throttled ? `${service} throttled the request` : `${service} failed (${code})`;
  return new UnavailableError(what, { cause, throttled, retryable: !permanent.has(name) });
}
