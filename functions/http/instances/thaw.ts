import { LoadFailedError } from '../../../lib/errors.ts';
import { type EncodedState, encodeState, type Identity } from '../../../lib/persistence/codec.ts';
import { packState } from '../../../lib/persistence/pack.ts';
import type { Dump, Snapshot, SnapshotInfo } from '../../../lib/persistence/snapshot-store.ts';
import { makeStoreKey } from '../../../lib/persistence/store-key.ts';
import { wakeSnapshot } from '../../../lib/persistence/thaw.ts';
import { HttpError } from '../http-error.ts';
import { type Handle, soleHandler } from '../http-handler.ts';
import type { HttpRequest } from '../request.ts';
import { type HttpResponse, quoteEtag } from '../response.ts';
import { type AgentTarget, agentTarget, instanceKey } from '../target.ts';
import { type Conditions, conditionsOf, judgeRead } from './conditional.ts';
import type { instanceOperations } from './operations.ts';
import { acceptsGzip, assertAcceptable, represent } from './representation.ts';

/** `GET` and `HEAD /v1/agents/{agent}/instances/{key+}` */
const getInstance: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const key = instanceKey(request);
  const conditions = conditionsOf(request);
  const { store } = target.persistence;
  const storeKey = makeStoreKey(target.persistence, target.name, key);

  const isHead = request.method === 'HEAD';
  const early = (info: SnapshotInfo) => earlyAnswer(info, target, request, conditions);

  // The data is only read of a snapshot that is going to be sent, and in the same read that judged it.
  const stored = found(
    await (isHead ? store.head(storeKey) : store.get(storeKey, (info) => isSent(early, info))),
  );
  const answer = early(stored);
  if (answer !== undefined) return answer;
  if (isHead) return headResponse(stored, target, acceptsGzip(request));
  const snapshot = stored as Snapshot;

  const dump = await loadedDump(target, key, snapshot);
  assertAcceptable(request, dump);
  const { body, headers } = await represent(dump, acceptsGzip(request));
  return {
    status: 200,
    headers: { ...validators(snapshot), 'content-type': dump.contentType, ...headers },
    body,
  };
};

export const handler = soleHandler<typeof instanceOperations.thaw>('thaw', {}, getInstance);

function found<Info extends SnapshotInfo>(info: Info | undefined): Info {
  if (info === undefined) throw new HttpError('not_found', 'nothing is stored under this agent and key');
  return info;
}

/** What a request is answered without its snapshot being read. A type that is not accepted comes before any condition. */
function earlyAnswer(
  info: SnapshotInfo,
  { definition }: AgentTarget,
  request: HttpRequest,
  conditions: Conditions,
): HttpResponse | undefined {
  // What `load` makes of it may be of another type.
  if (definition?.load === undefined) assertAcceptable(request, info);
  return judgeRead(info, conditions) === 'send' ? undefined : { status: 304, headers: validators(info) };
}

function isSent(early: (info: SnapshotInfo) => HttpResponse | undefined, info: SnapshotInfo): boolean {
  try {
    return early(info) === undefined;
  } catch {
    // Refused: it is thrown again once the store has answered.
    return false;
  }
}

/** The headers that GET would send; the length is not known where `load` has still to make the body. */
function headResponse(info: SnapshotInfo, { definition }: AgentTarget, gzip: boolean): HttpResponse {
  const headers = { ...validators(info), 'content-type': info.contentType };
  if (definition?.load !== undefined) return { status: 200, headers };
  const asStored = gzip && info.encoding === 'gzip';
  const length = { 'content-length': String(asStored ? info.storedBytes : info.bytes) };
  return { status: 200, headers: { ...headers, ...length, ...(asStored && { 'content-encoding': 'gzip' }) } };
}

/** One ETag for both encodings: it names the stored snapshot, so that it serves `If-Match` whatever was sent. */
function validators({ etag, updatedAt, version, format }: SnapshotInfo): Record<string, string> {
  return {
    etag: quoteEtag(etag),
    'last-modified': updatedAt.toUTCString(),
    'x-dormouse-version': String(version),
    'cache-control': 'private, no-cache',
    vary: format === 'rich' ? 'accept, accept-encoding' : 'accept-encoding',
  };
}

/** The stored dump as it is, or what the agent's `load` makes of it. */
async function loadedDump({ definition }: AgentTarget, key: string, snapshot: Snapshot): Promise<Dump> {
  if (definition?.load === undefined) return snapshot.dump;
  const live = await wakeSnapshot(definition, key, snapshot);
  return packState(encoded(live, snapshot.format === 'rich' ? 'kept' : 'dropped'));
}

/** What `load` made cannot be sent: its failure, not the caller's, who only asked for what is stored. */
function encoded(live: unknown, identity: Identity): EncodedState {
  try {
    return encodeState(live, identity);
  } catch (error) {
    throw new LoadFailedError('load returned what cannot be sent', { cause: error });
  }
}
