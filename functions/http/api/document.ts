import { conversationSchemas } from '../conversations/schemas.ts';
import {
  count,
  described,
  type Json,
  jsonContent,
  type OperationDescription,
  object,
  queryParameter,
  ref,
  tags,
  text,
} from '../description.ts';
import { type ErrorCode, problems } from '../http-error.ts';
import { instanceSchemas } from '../instances/operations.ts';
import { operations, routes } from '../operations.ts';
import { runSchemas } from '../runs/operations.ts';
import { apiSchemas } from './operations.ts';

/** Statuses that the gateway answers too, before a function is asked: without a code, in its own form. */
const ofTheGateway: readonly number[] = [401, 403, 413, 429, 503];
const waits: Json = {
  'Retry-After': { description: 'Seconds after which it is worth another try', schema: { type: 'integer' } },
};

/** One response per status, naming the codes that come with it. */
function errorResponses(codes: readonly ErrorCode[]): Json {
  const byStatus: Record<number, string[]> = {
    401: ['The gateway: the request is not signed, or bears no valid token'],
    403: ['The gateway: the caller may not call this route'],
  };
  for (const code of new Set(codes)) {
    const { status, title } = problems[code];
    byStatus[status] = [...(byStatus[status] ?? []), `\`${code}\`: ${title}`];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, titles]) => [
      status,
      described(titles.join('. '), {
        ...((status === '429' || status === '503') && { headers: waits }),
        ...(status === '412' && { headers: { ETag: { schema: text, description: 'Of what is stored' } } }),
        content: {
          ...(status !== '401' && { 'application/problem+json': { schema: ref('Problem') } }),
          ...(ofTheGateway.includes(Number(status)) && jsonContent(ref('GatewayMessage'))),
        },
      }),
    ]),
  );
}

function paths(): Json {
  const result: Record<string, Record<string, Json>> = {};
  for (const { path, method, operation } of routes) {
    // OpenAPI has no greedy parameters: {key+} is described as {key}.
    const template = path.replace('+}', '}');
    const { tag, summary, parameters, query, requestBody, responses, errors }: OperationDescription =
      operations[operation];
    const inQuery = Object.entries(query).map(([name, description]) => queryParameter(name, description));
    const operationId = method === 'HEAD' ? `${operation}-head` : operation;
    result[template] ??= {};
    result[template][method.toLowerCase()] = {
      operationId,
      tags: [tag],
      ...{ summary, requestBody },
      parameters: [...parameters, ...inQuery],
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
  // The origin that this document comes from.
  servers: [{ url: '/', description: 'This deployment' }],
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  // One of them, by the setting `auth`; the local server asks for none.
  security: [{ sigv4: [] }, { jwt: [] }],
  paths: paths(),
  components: {
    securitySchemes: {
      sigv4: {
        ...{
          type: 'apiKey',
          name: 'Authorization',
          in: 'header',
          'x-amazon-apigateway-authtype': 'awsSigv4',
        },
        description: 'AWS Signature Version 4, for the service execute-api (setting `auth: iam`)',
      },
      jwt: {
        ...{ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        description: 'A token of the issuer that the deployment trusts (setting `auth: jwt`)',
      },
    },
    schemas: {
      ...instanceSchemas,
      ...conversationSchemas,
      ...runSchemas,
      ...apiSchemas,
      GatewayMessage: object({ message: text }, ['message']),
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
