import { agentNamePattern } from '../../../lib/agents/define-agent.ts';
import type { ErrorCode } from '../http-error.ts';

/** A piece of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

export interface OperationDescription {
  readonly summary: string;
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Json;
  readonly errors: readonly ErrorCode[];
}

export const parameter = (
  name: string,
  where: string,
  schema: Json,
  description: string,
  required = false,
): Json => ({
  ...{ name, in: where, required, description, schema },
});
export const agent = parameter(
  'agent',
  'path',
  { type: 'string', pattern: agentNamePattern.source },
  'The agent’s name',
  true,
);
export const header = (name: string, description: string) =>
  parameter(name, 'header', { type: 'string' }, description);
export const text: Json = { type: 'string' };
export const time: Json = { type: 'string', format: 'date-time' };
export const count: Json = { type: 'integer', minimum: 0 };
const cursor = { type: 'string', description: 'Where the next page starts; absent on the last' };
export const paging = [
  parameter(
    'limit',
    'query',
    { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
    'Items in a page at the most',
  ),
  parameter('cursor', 'query', { type: 'string' }, 'The cursor of the page before'),
];
export const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } });
export const object = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  properties,
  required,
});
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
