import { abandonedAfterMs } from '../defaults.ts';

/** DynamoDB's TTL is in whole epoch seconds. */
export function ttlOf(expiresAt: Date): number {
  return Math.floor(expiresAt.getTime() / 1000);
}

/** When an item may go that no reader sees, but that keeps out the requests that may still arrive. */
export function ttlAfter(now: Date): number {
  return ttlOf(new Date(now.getTime() + abandonedAfterMs));
}
