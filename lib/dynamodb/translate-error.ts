import { awsError } from '../aws-error.ts';
import { PersistenceError } from '../errors.ts';

export function isConditionFailure(error: unknown): error is Error {
  return nameOf(error) === 'ConditionalCheckFailedException';
}

/**
 * True of an answer or error for which the SDK sent the request more than once: an earlier try may have been the one
 * that took effect, or may be under way still.
 */
export function wasRetried(outcome: unknown): boolean {
  return attemptsOf(outcome) > 1;
}

/** How often the SDK sent the request before it had this answer or error. */
export function attemptsOf(outcome: unknown): number {
  return (outcome as { $metadata?: { attempts?: number } } | undefined)?.$metadata?.attempts ?? 1;
}

/** Any error of the SDK, of the network or of a credential provider as a `PersistenceError`. */
export function translateError(error: unknown): PersistenceError {
  return error instanceof PersistenceError ? error : awsError('DynamoDB', error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
