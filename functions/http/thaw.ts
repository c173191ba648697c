import { loadAgent } from '../../lib/agents/callbacks.ts';
import { decodeState, type EncodedState, encodeState } from '../../lib/persistence/codec.ts';
import { packState, unpackState } from '../../lib/persistence/pack.ts';
import { LoadFailedError } from '../../lib/persistence/persistence-error.ts';
import { assertPreconditions, preconditionsHold } from '../../lib/persistence/preconditions.ts';
import type { Dump, Preconditions, Snapshot, SnapshotInfo } from '../../lib/persistence/snapshot-store.ts';
import { makeStoreKey } from '../../lib/persistence/store-key.ts';
import { preconditions } from './conditional.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { acceptsGzip, represent } from './representation.ts';
import { type HttpResponse, quoteEtag } from './response.ts';
import { type AgentTarget, agentTarget, instanceKey } from './target.ts';

/** `GET` and `HEAD /v1/agents/{agent}/instances/{key+}` */
const getInstance: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const key = instanceKey(request);
  const conditions = preconditions(request);
  const { store } = target.persistence;
  const storeKey = makeStoreKey(target.persistence, target.name, key);

  // A condition, or HEAD, may spare reading the data: then only the head is read first.
  if (request.method === 'HEAD' || conditions.ifMatch !== undefined || conditions.ifNoneMatch !== undefined) {
    const info = found(await store.head(storeKey));
    const decided = decideOnHead(info, conditions);
    if (decided !== undefined) return decided;
    if (request.method === 'HEAD') return headResponse(info, target);
  }

  const snapshot = found(await store.get(storeKey));
  const dump = await loadedDump(target, key, snapshot);
  const { body, headers } = await represent(dump, acceptsGzip(request));
  return {
    status: 200,
    headers: { ...validators(snapshot), 'content-type': dump.contentType, ...headers },
    body,
  };
};

export const handler = httpHandler(getInstance);

function found<Info extends SnapshotInfo>(info: Info | undefined): Info {
  if (info === undefined) throw new HttpError('not_found', 'nothing is stored under this agent and key');
  return info;
}

function decideOnHead(info: SnapshotInfo, { ifMatch, ifNoneMatch }: Preconditions): HttpResponse | undefined {
  assertPreconditions({ ifMatch }, info.etag);
  return preconditionsHold({ ifNoneMatch }, info.etag)
    ? undefined
    : { status: 304, headers: validators(info) };
}

/** The headers that GET would send; the length is not known where `load` has still to make the body. */
function headResponse(info: SnapshotInfo, { definition }: AgentTarget): HttpResponse {
  const length = definition?.load === undefined ? { 'content-length': String(info.bytes) } : {};
  return { status: 200, headers: { ...validators(info), 'content-type': info.contentType, ...length } };
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
async function loadedDump({ definition }: AgentTarget, key: string, { dump }: Snapshot): Promise<Dump> {
  if (definition?.load === undefined) return dump;
  const live = await loadAgent(definition, decodeState(dump.format, await unpackState(dump)), key);
  return packState(encoded(live));
}

/** What `load` made cannot be sent: its failure, not the caller's, who only asked for what is stored. */
function encoded(live: unknown): EncodedState {
  try {
    return encodeState(live);
  } catch (error) {
    throw new LoadFailedError('load returned what cannot be sent', { cause: error });
  }
}
