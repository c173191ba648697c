import { abandonedAfterMs } from '../defaults.ts';

/** DynamoDB's TTL is in whole epoch seconds. */
export function ttlOf(expiresAt: Date): number {
  return Math.floor(expiresAt.getTime() / 1000);
}

/** That of an item which may go so long after `now`. */
export function ttlIn(now: Date, secs: number): number {
  return ttlOf(now) + secs;
}

/** When an item may go that no reader sees, but that keeps out the requests that may still arrive. */
export function ttlAfter(now: Date): number {
  return ttlIn(now, abandonedAfterMs / 1000);
}
