import { keyMaxBytes, ttlMaxSecs } from '../../../lib/defaults.ts';
import type { Operation } from '../../../lib/http/routes.ts';
import {
  agent,
  count,
  described,
  header,
  type Json,
  jsonContent,
  listOf,
  type OperationDescription,
  object,
  paging,
  parameter,
  stored,
  time,
} from './parts.ts';

const key = parameter(
  'key',
  'path',
  { type: 'string', minLength: 1 },
  `The instance’s key: 1 to ${keyMaxBytes} UTF-8 bytes, slashes included; no control characters, %, ?, #, backslash, and no segment that is empty, . or ..`,
  true,
);
const ifMatch = header('If-Match', 'Only if one of these ETags, or anything (*), is stored (RFC 9110)');
const ifNoneMatch = header(
  'If-None-Match',
  'Only if none of these ETags, or nothing (*), is stored (RFC 9110)',
);
const etag: Json = {
  ETag: { description: 'Names this snapshot; never given twice', schema: { type: 'string' } },
};
const anyContent: Json = { '*/*': { schema: {} } };
const instance = {
  key: { type: 'string' },
  ...{
    version: { type: 'integer', minimum: 1 },
    bytes: count,
    storedBytes: count,
    updatedAt: time,
    expiresAt: time,
  },
};
const instanceRequired = ['key', 'version', 'bytes', 'storedBytes', 'updatedAt'];
const saved = object({ agent: { type: 'string' }, ...instance }, ['agent', ...instanceRequired]);

/** The operations on instances. */
export const instanceOperations = {
  hibernate: {
    summary: 'Hibernate: store the state of an instance, replacing the one before',
    parameters: [
      ...[agent, key, ifMatch, ifNoneMatch],
      parameter(
        'ttl',
        'query',
        { type: 'integer', minimum: 1, maximum: ttlMaxSecs },
        'Seconds until the state expires',
      ),
      header('Content-Encoding', 'gzip, or absent'),
    ],
    requestBody: described('The state: JSON, or any bytes under any other content type', {
      content: anyContent,
    }),
    responses: {
      200: described('Replaced', { headers: etag, content: jsonContent(saved) }),
      201: described('Stored for the first time', { headers: etag, content: jsonContent(saved) }),
    },
    errors: [
      ...(['invalid_request', 'invalid_json', 'conflict', 'too_large', 'unsupported_media_type'] as const),
      ...(['unsupported_encoding', 'invalid_state', 'dump_failed'] as const),
      ...stored,
    ],
  },
  thaw: {
    summary: 'Thaw: read the state of an instance, as it was stored',
    parameters: [
      agent,
      key,
      ifMatch,
      ifNoneMatch,
      header(
        'Accept',
        'The types that are taken; a state that JSON cannot carry is not sent to who takes JSON only',
      ),
      header('Accept-Encoding', 'gzip, for a compressed answer'),
    ],
    responses: {
      200: described('The state, with the content type it was stored with', {
        headers: etag,
        content: anyContent,
      }),
      304: described('The stored state is the one that If-None-Match names', { headers: etag }),
    },
    errors: [
      ...([
        'invalid_request',
        'not_found',
        'not_acceptable',
        'conflict',
        'too_large',
        'load_failed',
      ] as const),
      ...(['corrupt'] as const),
      ...stored,
    ],
  },
  forget: {
    summary: 'Forget: delete the state of an instance',
    parameters: [agent, key, ifMatch, ifNoneMatch],
    responses: { 204: described('Nothing is stored under this key any more') },
    errors: ['invalid_request', 'conflict', ...stored],
  },
  'list-instances': {
    summary: 'List the instances of an agent',
    parameters: [
      agent,
      parameter('prefix', 'query', { type: 'string' }, 'Only keys that start with it'),
      ...paging,
    ],
    responses: {
      200: described('A page', { content: jsonContent(listOf(object(instance, instanceRequired))) }),
    },
    errors: ['invalid_request', 'invalid_cursor', 'corrupt', ...stored],
  },
} as const satisfies Partial<Record<Operation, OperationDescription>>;
