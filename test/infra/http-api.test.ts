import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { operations, routes } from '../../functions/http/operations.ts';
import { nameOf } from '../../infra/rehearsal/grants.ts';
import { serviceFunctions } from '../../infra/service-functions.ts';
import { resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const jwt = {
  auth: 'jwt',
  jwtIssuer: 'https://issuer.example.com/',
  jwtAudience: ['dormouse', 'console'],
};

describe('the HTTP API', () => {
  const { template } = synthesizedStack();

  test('has every route of the descriptor, and $default for the rest', () => {
    const keys = routesOf(template).map(({ key }) => key);

    expect(keys.toSorted()).toEqual(['$default', ...routes.map(keyOf)].toSorted());
  });

  test.each(routes)('sends $method $path to the function of its operation', (route) => {
    const { target } = routeOf(template, keyOf(route));

    expect(target).toBe(serviceFunctions[operations[route.operation].function].id);
  });

  test('sends what no route takes to the function that refuses it', () => {
    expect(routeOf(template, '$default').target).toBe(serviceFunctions.api.id);
  });

  test('asks for IAM authorization on every route', () => {
    for (const { authorization } of routesOf(template)) expect(authorization).toBe('AWS_IAM');
  });

  test('talks to the functions in payload format 2.0', () => {
    const integrations = Object.values(resourcesOf(template, 'AWS::ApiGatewayV2::Integration'));

    expect(integrations.length).toBeGreaterThan(0);
    for (const { Properties } of integrations) {
      expect(Properties).toMatchObject({ IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' });
    }
  });

  test('may call the functions, and no other API may', () => {
    const permissions = Object.values(resourcesOf(template, 'AWS::Lambda::Permission'));
    const called = permissions.map(({ Properties }) => nameOf(Properties.FunctionName['Fn::GetAtt'][0]));

    expect(new Set(called)).toEqual(new Set(routesOf(template).map(({ target }) => target)));
    for (const { Properties } of permissions) {
      expect(Properties.Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(Properties.SourceArn)).toContain('{"Ref":"HttpApi');
    }
  });

  test('throttles its one stage as set', () => {
    const other = synthesizedStack({ throttle: { rateLimit: 5, burstLimit: 10 } }).template;

    expect(stageOf(template)).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 },
    });
    expect(stageOf(other).DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 });
  });

  test('logs every request as JSON, under the route and never the path, which holds the key', () => {
    const { DestinationArn, Format } = stageOf(template).AccessLogSettings;

    const group = resourcesOf(template, 'AWS::Logs::LogGroup')[DestinationArn['Fn::GetAtt'][0]];
    expect(group?.Properties).toEqual({ RetentionInDays: 30 });
    expect(JSON.parse(Format)).toMatchObject({
      requestId: '$context.requestId',
      route: '$context.routeKey',
      status: '$context.status',
    });
    expect(Format).not.toMatch(/\$context\.(path|http\.path|customDomain|authorizer\.claims)/);
  });
});

describe('the HTTP API with JWT authorization', () => {
  const { template } = synthesizedStack(jwt);

  test('asks for a token of the issuer, for one of the audiences, on every route', () => {
    const authorizers = Object.entries(resourcesOf(template, 'AWS::ApiGatewayV2::Authorizer'));

    expect(authorizers).toHaveLength(1);
    expect(authorizers[0]?.[1].Properties).toMatchObject({
      AuthorizerType: 'JWT',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Issuer: jwt.jwtIssuer, Audience: jwt.jwtAudience },
    });
    for (const { authorization, authorizer } of routesOf(template)) {
      expect({ authorization, authorizer }).toEqual({
        authorization: 'JWT',
        authorizer: { Ref: authorizers[0]?.[0] },
      });
    }
  });
});

describe('CORS', () => {
  const { template } = synthesizedStack({ ...jwt, corsOrigins: ['https://app.example.com'] });

  test('is off unless origins are set', () => {
    const [api] = Object.values(resourcesOf(synthesizedStack().template, 'AWS::ApiGatewayV2::Api'));

    expect(api?.Properties).not.toHaveProperty('CorsConfiguration');
  });

  test('allows what conditional requests, gzip and SigV4 send, and shows pages what they need', () => {
    const [api] = Object.values(resourcesOf(template, 'AWS::ApiGatewayV2::Api'));

    const cors = api?.Properties.CorsConfiguration;

    expect(cors.AllowOrigins).toEqual(['https://app.example.com']);
    expect(new Set(cors.AllowMethods)).toEqual(new Set(routes.map(({ method }) => method)));
    expect(cors.AllowHeaders).toEqual(
      expect.arrayContaining([
        'if-match',
        'if-modified-since',
        'if-unmodified-since',
        'if-none-match',
        'content-type',
        'content-encoding',
        'authorization',
      ]),
    );
    expect(cors.AllowHeaders).toEqual(
      expect.arrayContaining(['x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256']),
    );
    expect(new Set(cors.ExposeHeaders)).toEqual(
      new Set(['etag', 'last-modified', 'x-dormouse-version', 'location', 'retry-after']),
    );
    expect(cors).not.toHaveProperty('AllowCredentials');
  });

  test('leaves OPTIONS to the gateway, which answers preflights that bear no credentials', () => {
    const keys = routesOf(template).map(({ key }) => key);

    expect(keys).not.toContain('$default');
    expect(keys.filter((key) => /^(OPTIONS|ANY) /.test(key))).toEqual([]);
  });

  test('still sends every other method on an unknown path, authorized, to the function that refuses it', () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE']) {
      const { target, authorization } = routeOf(template, `${method} /{proxy+}`);
      expect({ target, authorization }).toEqual({ target: 'Api', authorization: 'JWT' });
    }
  });
});

interface DeployedRoute {
  readonly key: string;
  readonly authorization: string;
  readonly authorizer: unknown;
  /** The construct id of the function. */
  readonly target: string;
}

function keyOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

function routesOf(from: Template): DeployedRoute[] {
  const integrations = resourcesOf(from, 'AWS::ApiGatewayV2::Integration');
  return Object.values(resourcesOf(from, 'AWS::ApiGatewayV2::Route')).map(({ Properties }) => {
    const integration = integrations[Properties.Target['Fn::Join'][1][1].Ref];
    const fn: string = integration?.Properties.IntegrationUri['Fn::GetAtt'][0];
    return {
      key: Properties.RouteKey,
      authorization: Properties.AuthorizationType,
      authorizer: Properties.AuthorizerId,
      target: fn.replace(/[0-9A-F]{8}$/, ''),
    };
  });
}

function routeOf(from: Template, key: string): DeployedRoute {
  const route = routesOf(from).find((candidate) => candidate.key === key);
  if (route === undefined) throw new Error(`no route ${key}`);
  return route;
}

function stageOf(from: Template) {
  const [stage] = Object.values(resourcesOf(from, 'AWS::ApiGatewayV2::Stage'));
  if (stage === undefined) throw new Error('no stage');
  return stage.Properties;
}
