import { raceAttempts } from '../../../lib/defaults.ts';
import { ConflictError, UnavailableError } from '../../../lib/errors.ts';
import type { PersistenceFailure } from '../../../lib/persistence/persistence-result.ts';
import { assertPreconditions, preconditionsHold } from '../../../lib/persistence/preconditions.ts';
import type {
  Preconditions,
  SnapshotCatalog,
  SnapshotInfo,
} from '../../../lib/persistence/snapshot-store.ts';
import type { HttpRequest } from '../request.ts';
import { parseEtags } from './etags.ts';
import { parseHttpDate } from './http-date.ts';

/** The conditions of a request. Moments are epoch seconds, as finely as an HTTP-date tells. */
export interface Conditions extends Preconditions {
  readonly unmodifiedSince?: number | undefined;
  readonly modifiedSince?: number | undefined;
}

/**
 * The conditions that hold for a request, in the precedence of RFC 9110 (13.2.2): a date counts only without the ETags of
 * its kind. ETags that cannot be read are refused; what is no HTTP-date is ignored, as 13.1.3 and 13.1.4 want it.
 */
export function conditionsOf({ method, headers }: HttpRequest, now = new Date()): Conditions {
  const dateOf = (name: string) =>
    headers[name] === undefined ? undefined : parseHttpDate(headers[name], now);
  const isRead = method === 'GET' || method === 'HEAD';
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  return {
    // Strong comparison: a weak tag keeps its prefix, so that it equals no stored one.
    ifMatch: parseEtags('If-Match', match, (weak, tag) => (weak ? `W/"${tag}"` : tag)),
    ifNoneMatch: parseEtags('If-None-Match', noneMatch, (_weak, tag) => tag),
    unmodifiedSince: match === undefined ? dateOf('if-unmodified-since') : undefined,
    modifiedSince: isRead && noneMatch === undefined ? dateOf('if-modified-since') : undefined,
  };
}

/**
 * What a read is to be answered with.
 *
 * @throws ConflictError where `If-Match` or `If-Unmodified-Since` does not hold
 */
export function judgeRead(info: SnapshotInfo, conditions: Conditions): 'send' | 'not_modified' {
  const { ifMatch, ifNoneMatch, modifiedSince } = conditions;
  assertPreconditions({ ifMatch }, info.etag);
  assertUnmodified(info, conditions);
  if (!preconditionsHold({ ifNoneMatch }, info.etag)) return 'not_modified';
  return modifiedSince === undefined || secondOf(info.updatedAt) > modifiedSince ? 'send' : 'not_modified';
}

/**
 * Does a write under the conditions of its request. A date is judged by what is stored, and the write is bound to the
 * very snapshot that was judged, or to there being none: another writer who comes between makes it start over.
 */
export async function writeUnder<Result extends { readonly status: 'ok' }>(
  { unmodifiedSince, ifMatch, ifNoneMatch }: Conditions,
  { store, storeKey }: { readonly store: SnapshotCatalog; readonly storeKey: string },
  write: (preconditions: Preconditions) => Promise<Result | PersistenceFailure>,
): Promise<Result> {
  if (unmodifiedSince === undefined) return resultOf(await write({ ifMatch, ifNoneMatch }));
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const info = await store.head(storeKey);
    // What is not there has no date, and 13.1.4 has the condition ignored.
    if (info !== undefined) assertUnmodified(info, { unmodifiedSince });
    assertPreconditions({ ifNoneMatch }, info?.etag);
    const result = await write(info === undefined ? { ifNoneMatch: '*' } : { ifMatch: [info.etag] });
    if (result.status === 'ok' || !(result.error instanceof ConflictError)) return resultOf(result);
  }
  throw new UnavailableError('other writers of this key were faster, again and again');
}

function resultOf<Result extends { readonly status: 'ok' }>(result: Result | PersistenceFailure): Result {
  if (result.status === 'error') throw result.error;
  return result;
}

/** A state of the very second that is named is unmodified: that second is what `Last-Modified` said of it. */
function assertUnmodified(
  { etag, updatedAt }: SnapshotInfo,
  { unmodifiedSince }: Pick<Conditions, 'unmodifiedSince'>,
): void {
  if (unmodifiedSince !== undefined && secondOf(updatedAt) > unmodifiedSince) throw new ConflictError(etag);
}

function secondOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
