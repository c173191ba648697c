import { agentNamePattern } from '../../lib/agents/define-agent.ts';
import { keyMaxBytes, ttlMaxSecs } from '../../lib/defaults.ts';
import type { Operation } from '../../lib/http/routes.ts';
import { routes } from '../../lib/http/routes.ts';
import { type ErrorCode, problems } from './http-error.ts';

type Json = Readonly<Record<string, unknown>>;

const parameter = (
  name: string,
  where: string,
  schema: Json,
  description: string,
  required = false,
): Json => ({
  ...{ name, in: where, required, description, schema },
});
const agent = parameter(
  'agent',
  'path',
  { type: 'string', pattern: agentNamePattern.source },
  'The agent’s name',
  true,
);
const key = parameter(
  'key',
  'path',
  { type: 'string', minLength: 1 },
  `The instance’s key: 1 to ${keyMaxBytes} UTF-8 bytes, slashes included; no control characters, %, ?, #, backslash, and no segment that is empty, . or ..`,
  true,
);
const header = (name: string, description: string) =>
  parameter(name, 'header', { type: 'string' }, description);
const ifMatch = header('If-Match', 'Only if one of these ETags, or anything (*), is stored (RFC 9110)');
const ifNoneMatch = header(
  'If-None-Match',
  'Only if none of these ETags, or nothing (*), is stored (RFC 9110)',
);
const time: Json = { type: 'string', format: 'date-time' };
const count: Json = { type: 'integer', minimum: 0 };
const cursor = { type: 'string', description: 'Where the next page starts; absent on the last' };
const paging = [
  parameter(
    'limit',
    'query',
    { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    'Items in a page at the most',
  ),
  parameter('cursor', 'query', { type: 'string' }, 'The cursor of the page before'),
];
const etag: Json = {
  ETag: { description: 'Names this snapshot; never given twice', schema: { type: 'string' } },
};
const anyContent: Json = { '*/*': { schema: {} } };
const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } });
const object = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
});
const listOf = (item: Json): Json => object({ items: { type: 'array', items: item }, cursor }, ['items']);
const described = (description: string, more: Json = {}): Json => ({ description, ...more });

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

interface OperationDescription {
  readonly summary: string;
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Json;
  readonly errors: readonly ErrorCode[];
}

const always: readonly ErrorCode[] = ['internal'];
const stored: readonly ErrorCode[] = [
  'invalid_key',
  'unknown_agent',
  'forbidden',
  'throttled',
  'unavailable',
  ...always,
];

const operations: Readonly<Record<Operation, OperationDescription>> = {
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
      header('Accept-Encoding', 'gzip, for a compressed answer'),
    ],
    responses: {
      200: described('The state, with the content type it was stored with', {
        headers: etag,
        content: anyContent,
      }),
      304: described('The stored state is the one that If-None-Match names', { headers: etag }),
    },
    errors: ['invalid_request', 'not_found', 'conflict', 'too_large', 'load_failed', 'corrupt', ...stored],
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
  'list-agents': {
    summary: 'List the agents that are defined, with their policies and actions',
    parameters: [],
    responses: { 200: described('The definitions', { content: jsonContent(listOf({ type: 'object' })) }) },
    errors: always,
  },
  'describe-api': {
    summary: 'This document',
    parameters: [],
    responses: { 200: described('OpenAPI 3.1', { content: jsonContent({ type: 'object' }) }) },
    errors: always,
  },
};

/** One response per status, naming the codes that come with it. */
function errorResponses(codes: readonly ErrorCode[]): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const byStatus: Record<number, string[]> = {};
  for (const code of new Set(codes)) {
    const { status, title } = problems[code];
    byStatus[status] = [...(byStatus[status] ?? []), `\`${code}\`: ${title}`];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, titles]) => [status, described(titles.join('. '), { content })]),
  );
}

function paths(): Json {
  const result: Record<string, Record<string, Json>> = {};
  for (const { path, method, operation } of routes) {
    // OpenAPI has no greedy parameters: {key+} is described as {key}.
    const template = path.replace('+}', '}');
    const { errors, responses, ...description } = operations[operation];
    const operationId = method === 'HEAD' ? `${operation}-head` : operation;
    result[template] ??= {};
    result[template][method.toLowerCase()] = {
      operationId,
      ...description,
      responses: { ...responses, ...errorResponses(errors) },
    };
  }
  return result;
}

/** The HTTP API as OpenAPI 3.1, from the same routes and problems that serve it. */
export const openApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Dormouse',
    version: '1',
    description:
      'Puts AI agents to sleep and wakes them up again. Every error is application/problem+json (RFC 9457).',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  paths: paths(),
  components: {
    schemas: {
      Problem: object(
        {
          type: { type: 'string' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          code: { type: 'string', enum: Object.keys(problems) },
          requestId: { type: 'string' },
          size: count,
          limit: count,
        },
        ['type', 'title', 'status', 'detail', 'code', 'requestId'],
      ),
    },
  },
};
