import type { Operation } from '../../../lib/http/routes.ts';
import { routes } from '../../../lib/http/routes.ts';
import { type ErrorCode, problems } from '../http-error.ts';
import { instanceOperations } from './instances.ts';
import {
  always,
  count,
  described,
  type Json,
  jsonContent,
  listOf,
  type OperationDescription,
  object,
} from './parts.ts';
import { runOperations } from './runs.ts';
import { sessionOperations } from './sessions.ts';

const operations: Readonly<Record<Operation, OperationDescription>> = {
  ...instanceOperations,
  ...sessionOperations,
  ...runOperations,
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
