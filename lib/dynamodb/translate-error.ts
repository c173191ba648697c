import { awsError } from '../aws-error.ts';
import { PersistenceError } from '../persistence/persistence-error.ts';

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
  return error instanceof PersistenceError ? error : awsError('DynamoDB', error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
