import { UnavailableError } from './errors.ts';
import { messageOf } from './message-of.ts';

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
  return awsFailure(service, name || messageOf(error), error, hintOf(error));
}

const toDo: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'there is no such table in this account and region',
  CredentialsProviderError: 'set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
};

const hintMaxChars = 300;
/** IAM's words for what a role lacks. */
const refusedAction = /is not authorized to perform: ([a-z0-9-]+:[A-Za-z]+)/;

/**
 * What is wrong on this side, and what to set. What a service says is not passed on, as it may quote what was sent, but
 * for the name of a missing permission; no service has said anything of a missing region, missing credentials or an
 * address where nobody listens.
 */
function hintOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const action = refusedAction.exec(error.message)?.[1];
  const hint = action === undefined ? toDo[error.name] : `the role lacks the permission ${action}`;
  if ('$fault' in error || error.name.endsWith('Exception')) return hint === undefined ? '' : `: ${hint}`;
  // Of a name with several addresses each has failed, and the error of them all says nothing itself.
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  const said = messageOf(first).slice(0, hintMaxChars);
  const region = said.startsWith('Region ') ? 'set AWS_REGION, or pass a client with a region' : hint;
  return [said === '' ? '' : `: ${said}`, region === undefined ? '' : `; ${region}`].join('');
}

/** A failure that a service names by a code, with or without the service's own name before it. */
export function awsFailure(service: string, code: string, cause?: unknown, hint = ''): UnavailableError {
  const name = code.slice(code.lastIndexOf('.') + 1);
  const throttled = throttling.has(name);
  const what = throttled ? `${service} throttled the request` : `${service} failed (${code}${hint})`;
  return new UnavailableError(what, { cause, throttled, retryable: !permanent.has(name) });
}
