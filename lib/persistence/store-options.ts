import type { Clock } from '../clock.ts';
import type { NewEtag } from './etag.ts';

/** What every built-in store takes; tests pass a clock and ETags of their own. */
export interface StoreOptions {
  readonly clock?: Clock | undefined;
  readonly newEtag?: NewEtag | undefined;
}
