import { ConflictError } from './persistence-error.ts';
import type { Preconditions } from './snapshot-store.ts';

/** RFC 9110, section 13.2.2: `ifMatch` first, then `ifNoneMatch`. `currentEtag` is undefined where nothing live is stored. */
export function preconditionsHold(
  { ifMatch, ifNoneMatch }: Preconditions,
  currentEtag: string | undefined,
): boolean {
  if (ifMatch !== undefined && !names(ifMatch, currentEtag)) return false;
  return ifNoneMatch === undefined || !names(ifNoneMatch, currentEtag);
}

function names(condition: '*' | readonly string[], currentEtag: string | undefined): boolean {
  if (currentEtag === undefined) return false;
  return condition === '*' || condition.includes(currentEtag);
}

/** Throws `ConflictError` with the current ETag where the preconditions do not hold. */
export function assertPreconditions(preconditions: Preconditions, currentEtag: string | undefined): void {
  if (!preconditionsHold(preconditions, currentEtag)) throw new ConflictError(currentEtag);
}
