import { type EncodedState, encodeState } from '../../lib/persistence/codec.ts';
import { packState } from '../../lib/persistence/pack.ts';
import { LoadFailedError } from '../../lib/persistence/persistence-error.ts';
import type { Dump, Snapshot, SnapshotInfo } from '../../lib/persistence/snapshot-store.ts';
import { makeStoreKey } from '../../lib/persistence/store-key.ts';
import { wakeSnapshot } from '../../lib/persistence/thaw.ts';
import { type Conditions, conditionsOf, isConditional, judgeRead } from './conditional.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { acceptsGzip, represent } from './representation.ts';
import { type HttpResponse, quoteEtag } from './response.ts';
import { type AgentTarget, agentTarget, instanceKey } from './target.ts';

/** `GET` and `HEAD /v1/agents/{agent}/instances/{key+}` */
const getInstance: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const key = instanceKey(request);
  const conditions = conditionsOf(request);
  const { store } = target.persistence;
  const storeKey = makeStoreKey(target.persistence, target.name, key);

  // A condition, or HEAD, may spare reading the data: then only the head is read first.
  if (request.method === 'HEAD' || isConditional(conditions)) {
    const info = found(await store.head(storeKey));
    const early = decideOnHead(info, conditions);
    if (early !== undefined) return early;
    if (request.method === 'HEAD') return headResponse(info, target, acceptsGzip(request));
  }

  const snapshot = found(await store.get(storeKey));
  // Another writer may have come between the two reads.
  const decided = decideOnHead(snapshot, conditions);
  if (decided !== undefined) return decided;
  const dump = await loadedDump(target, key, snapshot);
  const { body, headers } = await represent(dump, acceptsGzip(request));
  return {
    status: 200,
    headers: { ...validators(snapshot), 'content-type': dump.contentType, ...headers },
    body,
  };
};

export const handler = httpHandler('thaw', getInstance);

function found<Info extends SnapshotInfo>(info: Info | undefined): Info {
  if (info === undefined) throw new HttpError('not_found', 'nothing is stored under this agent and key');
  return info;
}

function decideOnHead(info: SnapshotInfo, conditions: Conditions): HttpResponse | undefined {
  return judgeRead(info, conditions) === 'send' ? undefined : { status: 304, headers: validators(info) };
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
function validators({ etag, updatedAt, version }: SnapshotInfo): Record<string, string> {
  return {
    etag: quoteEtag(etag),
    'last-modified': updatedAt.toUTCString(),
    'x-dormouse-version': String(version),
    'cache-control': 'private, no-cache',
    vary: 'accept-encoding',
  };
}

/** The stored dump as it is, or what the agent's `load` makes of it. */
async function loadedDump({ definition }: AgentTarget, key: string, snapshot: Snapshot): Promise<Dump> {
  if (definition?.load === undefined) return snapshot.dump;
  return packState(encoded(await wakeSnapshot(definition, key, snapshot)));
}

/** What `load` made cannot be sent: its failure, not the caller's, who only asked for what is stored. */
function encoded(live: unknown): EncodedState {
  try {
    return encodeState(live);
  } catch (error) {
    throw new LoadFailedError('load returned what cannot be sent', { cause: error });
  }
}
