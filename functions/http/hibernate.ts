import { checkState } from '../../lib/agents/callbacks.ts';
import { ttlMaxSecs } from '../../lib/defaults.ts';
import {
  type HibernateOptions,
  type HibernateResult,
  hibernate,
  hibernateEncoded,
} from '../../lib/persistence/hibernate.ts';
import type { PersistenceConfig } from '../../lib/persistence/persistence-config.ts';
import { preconditions } from './conditional.ts';
import { type Content, readContent } from './content.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { assertReadable } from './representation.ts';
import type { HttpRequest } from './request.ts';
import { json, quoteEtag } from './response.ts';
import { type AgentTarget, agentTarget, instanceKey } from './target.ts';

/** `PUT /v1/agents/{agent}/instances/{key+}` */
const putInstance: Handle = async (request, services) => {
  const target = agentTarget(request, services);
  const key = instanceKey(request);
  const options = { ...preconditions(request), ttlSeconds: ttlSeconds(request) };
  const content = await readContent(request);

  const result = await save(target, key, content, options);

  if (result.status === 'error') throw result.error;
  const { etag, version, bytes, storedBytes, updatedAt, expiresAt } = result;
  const body = { agent: target.name, key, version, bytes, storedBytes, updatedAt, expiresAt };
  return json(result.created ? 201 : 200, body, { etag: quoteEtag(etag) });
};

export const handler = httpHandler(putInstance);

async function save(
  target: AgentTarget,
  key: string,
  content: Content,
  options: HibernateOptions,
): Promise<HibernateResult> {
  const { name, definition } = target;
  const config = readableOnly(target.persistence, content.compressed);
  if (definition?.dump !== undefined || definition?.state !== undefined) {
    if (content.json === undefined) {
      throw new HttpError(
        'unsupported_media_type',
        `agent '${name}' takes application/json: its callbacks read the state`,
      );
    }
    if (definition.dump !== undefined) return hibernate(config, definition, key, content.json.value, options);
    // A schema only checks: the bytes are kept as they were sent.
    await checkState(definition, content.json.value);
  }
  const { contentType, data } = content;
  const format = content.json === undefined ? 'bytes' : 'json';
  return hibernateEncoded(config, name, key, { format, contentType, data }, options);
}

function ttlSeconds({ query }: HttpRequest): number | undefined {
  const ttl = query.ttl;
  if (ttl === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(ttl) || Number(ttl) > ttlMaxSecs) {
    throw new HttpError('invalid_request', `ttl must be whole seconds from 1 to ${ttlMaxSecs}`);
  }
  return Number(ttl);
}

/** Over HTTP nothing may be stored that could not be read back over HTTP. */
function readableOnly(config: PersistenceConfig, compressed: boolean): PersistenceConfig {
  const { store } = config;
  return {
    ...config,
    store: {
      get: (key) => store.get(key),
      delete: (key, options) => store.delete(key, options),
      put: async (key, dump, options) => {
        await assertReadable(dump, compressed);
        return store.put(key, dump, options);
      },
    },
  };
}
