import type { APIGatewayProxyEventV2 } from 'aws-lambda';

export interface EventParts {
  readonly method?: string;
  readonly agent?: string;
  readonly key?: string;
  readonly rawPath?: string;
  readonly stage?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly base64?: boolean;
  readonly claims?: Record<string, string>;
}

/** An event of payload format 2.0 for an instance route, as API Gateway sends it. */
export function httpEvent(parts: EventParts = {}): APIGatewayProxyEventV2 {
  const {
    method = 'GET',
    agent = 'planner',
    key,
    stage = '$default',
    query,
    headers = {},
    body,
    base64 = false,
  } = parts;
  const rawPath = parts.rawPath ?? `/v1/agents/${agent}/instances${key === undefined ? '' : `/${key}`}`;
  return {
    version: '2.0',
    routeKey: `${method} /v1/agents/{agent}/instances/{key+}`,
    rawPath,
    rawQueryString: new URLSearchParams(query).toString(),
    headers,
    ...(query && { queryStringParameters: query }),
    pathParameters: { agent, ...(key !== undefined && { key }) },
    requestContext: {
      accountId: '111122223333',
      apiId: 'api',
      domainName: 'api.execute-api.eu-central-1.amazonaws.com',
      domainPrefix: 'api',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
      requestId: 'request-1',
      routeKey: '$default',
      stage,
      time: '01/Jan/2027:00:00:00 +0000',
      timeEpoch: 1_798_761_600_000,
      ...(parts.claims && { authorizer: { jwt: { claims: parts.claims, scopes: [] } } }),
    } as APIGatewayProxyEventV2['requestContext'],
    ...(body !== undefined && { body }),
    isBase64Encoded: base64,
  };
}
