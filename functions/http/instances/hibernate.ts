import { jsonMaxDepth, sentMaxValues, ttlMaxSecs } from '../../../lib/defaults.ts';
import { hibernateSent } from '../../../lib/persistence/hibernate.ts';
import type { Dump } from '../../../lib/persistence/snapshot-store.ts';
import { makeStoreKey } from '../../../lib/persistence/store-key.ts';
import { noteHibernate, publishMetrics } from '../../metrics.ts';
import { type Content, readContent } from '../content.ts';
import { HttpError } from '../http-error.ts';
import { type Handle, soleHandler } from '../http-handler.ts';
import { assertFinite } from '../json-body.ts';
import { sentMaxDepth } from '../limits.ts';
import type { HttpRequest } from '../request.ts';
import { json, quoteEtag } from '../response.ts';
import { type AgentTarget, agentTarget, instanceKey } from '../target.ts';
import { conditionsOf, writeUnder } from './conditional.ts';
import type { instanceOperations } from './operations.ts';
import { assertReadable } from './representation.ts';

/** `PUT /v1/agents/{agent}/instances/{key+}` */
const putInstance: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const key = instanceKey(request);
  const conditions = conditionsOf(request);
  const ttl = ttlSeconds(request);
  const content = await readContent(request, maxDepthOf(target));

  assertReads(target, content);
  // Over HTTP nothing may be stored that could not be read back over HTTP.
  const accept = (dump: Dump) => assertReadable(dump, content.compressed);
  const { name, definition, persistence } = target;

  const place = { store: persistence.store, storeKey: makeStoreKey(persistence, name, key) };
  const result = await writeUnder(conditions, place, (preconditions) => {
    const options = { ...preconditions, ttlSeconds: ttl };
    return hibernateSent({ ...persistence, accept }, definition ?? name, key, content, options);
  });

  const { etag, version, bytes, storedBytes, updatedAt, expiresAt } = result;
  noteHibernate(bytes);
  publishMetrics();
  const body = { agent: name, key, version, bytes, storedBytes, updatedAt, expiresAt };
  return json(result.created ? 201 : 200, body, { etag: quoteEtag(etag) });
};

export const handler = soleHandler<typeof instanceOperations.hibernate>(
  'hibernate',
  { ttl: true },
  putInstance,
);

/**
 * Callbacks and schemas read values, which opaque bytes have none of. A state that is one string falls apart into its
 * characters where a callback spreads it, as most do: `{ ...state }`.
 */
function assertReads({ definition }: AgentTarget, { format, value }: Content): void {
  const reads = definition?.dump !== undefined || definition?.state !== undefined;
  if (reads && format === 'bytes') {
    throw new HttpError(
      'unsupported_media_type',
      `agent '${definition.name}' takes application/json: its callbacks read the state`,
    );
  }
  const isRead = reads || definition?.load !== undefined;
  // It would be infinity to a callback, and what comes of it no JSON any more.
  if (isRead && format === 'json') assertFinite(value);
  if (isRead && typeof value === 'string' && value.length > sentMaxValues) {
    throw new HttpError(
      'too_large',
      `a state that is one string has at most ${sentMaxValues} characters here`,
      { limit: sentMaxValues },
    );
  }
}

/** What a callback is given or returns has to be written as JSON again; everything else is kept as it was sent. */
function maxDepthOf({ definition }: AgentTarget): number {
  const { state, dump, load } = definition ?? {};
  return state === undefined && dump === undefined && load === undefined ? sentMaxDepth : jsonMaxDepth;
}

function ttlSeconds({ query }: HttpRequest): number | undefined {
  const ttl = query.ttl;
  if (ttl === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(ttl) || Number(ttl) > ttlMaxSecs) {
    throw new HttpError('invalid_request', `ttl must be whole seconds from 1 to ${ttlMaxSecs}`);
  }
  return Number(ttl);
}
