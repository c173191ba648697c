import { agentNamePattern } from '../../lib/agents/define-agent.ts';
import { agentNameMaxChars, keyMaxBytes } from '../../lib/defaults.ts';
import type { ErrorCode } from './http-error.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** Of a query parameter: what it means, and what it may be. */
export interface QueryDescription {
  readonly description: string;
  readonly schema: Json;
  readonly required?: true;
}

/** The functions that the API leads to; each has a role of its own. `api` also takes what no route does. */
export type ApiFunction = 'hibernate' | 'thaw' | 'instances' | 'conversations' | 'runs' | 'api';
export type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';

/**
 * An operation of the API, where all that there is to know of it stands once: the stack, the local server and the
 * OpenAPI document are made of this. What it does is in the handler of its function.
 */
export interface OperationDescription {
  readonly function: ApiFunction;
  readonly methods: readonly Method[];
  /** As API Gateway spells it: `{name}` is one segment, `{name+}` the rest. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  /** In path and headers. */
  readonly parameters: readonly Json[];
  /** The server takes no others. */
  readonly query: Readonly<Record<string, QueryDescription>>;
  readonly requestBody?: Json;
  readonly responses: Json;
  readonly errors: readonly ErrorCode[];
}

export type Descriptions = Readonly<Record<string, OperationDescription>>;

/** What operations are about, in the order of the document. */
export const tags = {
  instances: 'The states of agents: hibernate, thaw, forget',
  sessions: 'Conversations, and what is remembered of them',
  runs: 'Actions over the sessions of an agent, on request and on schedule',
  deployment: 'What this deployment has',
} as const;
type Tag = keyof typeof tags;

export const paths = {
  agent: '/v1/agents/{agent}',
  session: '/v1/agents/{agent}/sessions/{session}',
} as const;

const parameter = (
  name: string,
  where: string,
  schema: Json,
  description: string,
  required = false,
): Json => ({
  ...{ name, in: where, required, description, schema },
});
export const queryParameter = (name: string, { description, schema, required }: QueryDescription) =>
  parameter(name, 'query', schema, description, required);
export const pathParameter = (name: string, schema: Json, description: string) =>
  parameter(name, 'path', schema, description, true);
/** One segment of a path that names what a caller has named. */
export const segment = (name: string, what: string) =>
  pathParameter(
    name,
    { type: 'string', minLength: 1, maxLength: keyMaxBytes, pattern: '^[^/\\x00-\\x1f\\x7f-\\x9f%?#\\\\]+$' },
    `${what}: 1 to ${keyMaxBytes} UTF-8 bytes, as an instance’s key but without slashes`,
  );
export const header = (name: string, description: string, pattern?: string) =>
  parameter(name, 'header', { type: 'string', ...(pattern !== undefined && { pattern }) }, description);
export const agent = pathParameter(
  'agent',
  { type: 'string', pattern: agentNamePattern.source, minLength: 1, maxLength: agentNameMaxChars },
  'The agent’s name',
);
export const session = segment('session', 'The session');
export const text: Json = { type: 'string' };
export const time: Json = { type: 'string', format: 'date-time' };
export const count: Json = { type: 'integer', minimum: 0 };
/** Names are limited in bytes, which a schema cannot tell: an ASCII character takes one, others up to four. */
export const name: Json = { type: 'string', minLength: 1, maxLength: keyMaxBytes };
const cursor = { type: 'string', description: 'Where the next page starts; absent on the last' };
export const paging = {
  limit: {
    description: 'Items in a page at the most',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
  },
  cursor: {
    description: 'The cursor of the page before, as it came',
    schema: { type: 'string', minLength: 16, pattern: '^[A-Za-z0-9_-]+$' },
  },
};
export const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } });
export const object = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
});
/** An object of a request: a field that is not named is refused. */
export const closed = (properties: Json, required: readonly string[]): Json => ({
  ...object(properties, required),
  additionalProperties: false,
});
export const ref = (schema: string): Json => ({ $ref: `#/components/schemas/${schema}` });
export const listOf = (item: Json): Json =>
  object({ items: { type: 'array', items: item }, cursor }, ['items']);
export const described = (description: string, more: Json = {}): Json => ({ description, ...more });

export const always: readonly ErrorCode[] = ['invalid_request', 'internal'];
/** Of operations that take JSON. */
export const ofBodies: readonly ErrorCode[] = [
  'invalid_json',
  'too_large',
  'unsupported_media_type',
  'unsupported_encoding',
];
export const stored: readonly ErrorCode[] = [
  'invalid_key',
  'unknown_agent',
  'forbidden',
  'throttled',
  'unavailable',
  ...always,
];
export const ofSessions: readonly ErrorCode[] = ['invalid_input', 'corrupt', ...stored];
export const ofMemory: readonly ErrorCode[] = ['session_not_found', ...ofSessions];
export const ofPages: readonly ErrorCode[] = ['invalid_cursor', 'too_large'];
export const page = (item: string) => ({
  200: described('A page', { content: jsonContent(listOf(ref(item))) }),
});
