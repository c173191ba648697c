import { keyMaxBytes, ttlMaxSecs } from '../../../lib/defaults.ts';
import {
  agent,
  count,
  type Descriptions,
  described,
  header,
  type Json,
  jsonContent,
  listOf,
  object,
  paging,
  pathParameter,
  paths,
  ref,
  stored,
  time,
} from '../description.ts';

const key = pathParameter(
  'key',
  { type: 'string', minLength: 1, maxLength: keyMaxBytes, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f%?#\\\\]+$' },
  `The instance’s key: 1 to ${keyMaxBytes} UTF-8 bytes, slashes included (as they are, or as %2F); no control characters, %, ?, #, backslash, and no segment that is empty, . or ..`,
);
const etags = '^([*]|(W/)?"[!#-~]+"(, *(W/)?"[!#-~]+")*)$';
const ifMatch = header(
  'If-Match',
  'Only if one of these ETags, or anything (*), is stored (RFC 9110)',
  etags,
);
const ifNoneMatch = header(
  'If-None-Match',
  'Only if none of these ETags, or nothing (*), is stored (RFC 9110)',
  etags,
);
const ifUnmodifiedSince = header(
  'If-Unmodified-Since',
  'Only if what is stored is not newer than this HTTP-date; ignored beside If-Match, and when it is no HTTP-date (RFC 9110)',
);
const ifModifiedSince = header(
  'If-Modified-Since',
  'Only if what is stored is newer than this HTTP-date; ignored beside If-None-Match, and when it is no HTTP-date (RFC 9110)',
);
const etag: Json = {
  ETag: { description: 'Names this snapshot; never given twice', schema: { type: 'string' } },
};
const validators: Json = {
  ...etag,
  'Last-Modified': { description: 'When it was stored, to the second', schema: { type: 'string' } },
  'X-Dormouse-Version': {
    description: '1 for the first snapshot under the key, one more with each',
    schema: { type: 'integer', minimum: 1 },
  },
};
/** JSON comes first, and bytes under one name: of more, generators make clients that cannot send, or none at all. */
const state: Json = {
  'application/json': { schema: {} },
  '*/*': { schema: { type: 'string', format: 'binary' } },
};
const instance = {
  key: { type: 'string' },
  version: { type: 'integer', minimum: 1 },
  ...{ bytes: count, storedBytes: count, updatedAt: time, expiresAt: time },
};
const instanceRequired = ['key', 'version', 'bytes', 'storedBytes', 'updatedAt'];

export const instanceSchemas = {
  Instance: object(instance, instanceRequired),
  Hibernated: object({ agent: { type: 'string' }, ...instance }, ['agent', ...instanceRequired]),
};

const instancePath = `${paths.agent}/instances/{key+}`;

/** The operations on instances. */
export const instanceOperations = {
  hibernate: {
    function: 'hibernate',
    methods: ['PUT'],
    path: instancePath,
    tag: 'instances',
    summary: 'Hibernate: store the state of an instance, replacing the one before',
    parameters: [
      ...[agent, key, ifMatch, ifNoneMatch, ifUnmodifiedSince],
      header('Content-Encoding', 'gzip, or absent', '^((x-)?gzip|identity)?$'),
    ],
    query: {
      ttl: {
        description: 'Seconds until the state expires',
        schema: { type: 'integer', minimum: 1, maximum: ttlMaxSecs },
      },
    },
    requestBody: described(
      'The state: JSON, or any bytes under any other content type; an absent body is no bytes',
      {
        content: state,
      },
    ),
    responses: {
      200: described('Replaced', { headers: etag, content: jsonContent(ref('Hibernated')) }),
      201: described('Stored for the first time', { headers: etag, content: jsonContent(ref('Hibernated')) }),
    },
    errors: [
      ...(['invalid_json', 'conflict', 'too_large', 'unsupported_media_type'] as const),
      ...(['unsupported_encoding', 'invalid_state', 'dump_failed'] as const),
      ...stored,
    ],
  },
  thaw: {
    function: 'thaw',
    methods: ['GET', 'HEAD'],
    path: instancePath,
    tag: 'instances',
    summary: 'Thaw: read the state of an instance, as it was stored',
    parameters: [
      ...[agent, key, ifMatch, ifNoneMatch, ifUnmodifiedSince, ifModifiedSince],
      header('Accept-Encoding', 'gzip, for a compressed answer'),
    ],
    query: {},
    responses: {
      200: described(
        'The state, with the content type it was stored with. With an Accept header that takes JSON only, what JSON cannot carry is 406',
        { headers: validators, content: state },
      ),
      304: described('The stored state is the one that the precondition names', { headers: validators }),
    },
    errors: [
      ...(['not_found', 'not_acceptable', 'conflict', 'too_large', 'load_failed', 'corrupt'] as const),
      ...stored,
    ],
  },
  forget: {
    function: 'instances',
    methods: ['DELETE'],
    path: instancePath,
    tag: 'instances',
    summary: 'Forget: delete the state of an instance',
    parameters: [agent, key, ifMatch, ifNoneMatch, ifUnmodifiedSince],
    query: {},
    responses: { 204: described('Nothing is stored under this key any more') },
    errors: ['conflict', ...stored],
  },
  'list-instances': {
    function: 'instances',
    methods: ['GET'],
    path: `${paths.agent}/instances`,
    tag: 'instances',
    summary: 'List the instances of an agent',
    parameters: [agent],
    query: {
      prefix: {
        description: 'Only keys that start with it',
        schema: { type: 'string', maxLength: keyMaxBytes },
      },
      ...paging,
    },
    responses: { 200: described('A page', { content: jsonContent(listOf(ref('Instance'))) }) },
    errors: ['invalid_cursor', 'corrupt', ...stored],
  },
} satisfies Descriptions;
