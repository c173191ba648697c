import { ConflictError, InvalidOptionError } from '../errors.ts';
import { fieldsOf, fieldsProblem } from '../input.ts';
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

/** Preconditions as a caller writes them: one ETag, several, or `'*'`. */
export interface GivenPreconditions {
  readonly ifMatch?: string | readonly string[] | undefined;
  readonly ifNoneMatch?: string | readonly string[] | undefined;
}

const preconditionNames = fieldsOf<GivenPreconditions>()({ ifMatch: 1, ifNoneMatch: 1 });

/** A misspelled condition would be none: what it was to protect would be overwritten, or forgotten. */
export function optionsError(
  options: unknown,
  known: readonly string[] = preconditionNames,
): InvalidOptionError | undefined {
  const problem = fieldsProblem(options, known);
  return problem === undefined ? undefined : new InvalidOptionError(`options: ${problem}`);
}

/** As a store takes them, as they are at the call. An empty ETag or list is a mistake of the caller, never "no condition". */
export function preconditionsOf({ ifMatch, ifNoneMatch }: GivenPreconditions): Preconditions {
  return { ifMatch: etagsOf('ifMatch', ifMatch), ifNoneMatch: etagsOf('ifNoneMatch', ifNoneMatch) };
}

function etagsOf(option: string, given: GivenPreconditions['ifMatch']): Preconditions['ifMatch'] {
  if (given === undefined || given === '*') return given;
  const etags: readonly unknown[] = Array.isArray(given) ? [...given] : [given];
  const isEtag = (etag: unknown) => typeof etag === 'string' && etag !== '';
  if (etags.length === 0 || !etags.every(isEtag)) {
    throw new InvalidOptionError(`${option} must be '*' or non-empty ETags`);
  }
  return etags as readonly string[];
}
