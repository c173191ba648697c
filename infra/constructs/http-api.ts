import { Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  CorsHttpMethod,
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations, permissionOf, routes } from '../../functions/http/operations.ts';
import { type FunctionName, perFunction } from '../service-functions.ts';
import type { Settings } from '../settings.ts';
import { serviceLogs } from './service-logs.ts';

export type ServiceApiSettings = Pick<Settings, 'auth' | 'throttle' | 'corsOrigins' | 'retain'>;

/** The HTTP API in front of the functions. No route is open: what `routes` does not name goes, authorized, to `api`. */
export class ServiceApi extends Construct {
  readonly api: HttpApi;
  readonly accessLogs: LogGroup;

  constructor(
    scope: Construct,
    id: string,
    functions: Readonly<Record<FunctionName, IFunction>>,
    settings: ServiceApiSettings,
  ) {
    super(scope, id);
    // One permission each, for this API: the routes decide what a function is called for.
    const integrations = perFunction(
      (name) => new HttpLambdaIntegration(name, functions[name], { scopePermissionToRoute: false }),
    );
    const hasCors = settings.corsOrigins.length > 0;

    this.api = new HttpApi(this, 'Api', {
      apiName: Stack.of(this).stackName,
      description: 'Dormouse: puts AI agents to sleep and wakes them up again',
      createDefaultStage: false,
      defaultAuthorizer: authorizer(settings),
      ...(hasCors ? { corsPreflight: cors(settings) } : { defaultIntegration: integrations.api }),
    });
    for (const { operation, method, path } of routes) {
      const scope =
        settings.auth.kind === 'jwt' ? settings.auth.scopes[permissionOf(operation, method)] : undefined;
      this.api.addRoutes({
        path,
        ...(scope !== undefined && { authorizationScopes: [scope] }),
        methods: [HttpMethod[method]],
        integration: integrations[operations[operation].function],
      });
    }
    // With CORS instead of $default: that route would take preflights too, and refuse them for having no credentials.
    if (hasCors) {
      this.api.addRoutes({
        path: '/{proxy+}',
        methods: allButOptions,
        integration: integrations.api,
      });
    }

    this.accessLogs = serviceLogs(this, 'AccessLogs', settings);
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: settings.throttle,
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLogs),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
    });
  }
}

function authorizer({ auth }: ServiceApiSettings): IHttpRouteAuthorizer {
  if (auth.kind === 'iam') return new HttpIamAuthorizer();
  return new HttpJwtAuthorizer('Jwt', auth.issuer, { jwtAudience: [...auth.audience] });
}

const allButOptions = Object.values(HttpMethod).filter(
  (method) => method !== HttpMethod.ANY && method !== HttpMethod.OPTIONS,
);

function cors({ corsOrigins }: ServiceApiSettings): CorsPreflightOptions {
  return {
    allowOrigins: [...corsOrigins],
    allowMethods: [...new Set(routes.map(({ method }) => CorsHttpMethod[method]))],
    allowHeaders: [
      'authorization',
      'content-encoding',
      'content-type',
      'if-match',
      'if-modified-since',
      'if-none-match',
      'if-unmodified-since',
      // What SigV4 adds: API Gateway takes no prefix such as x-amz-*.
      'x-amz-content-sha256',
      'x-amz-date',
      'x-amz-security-token',
    ],
    exposeHeaders: ['etag', 'last-modified', 'location', 'retry-after', 'x-dormouse-version'],
  };
}

/** Never `$context.path`: an instance key may name a person. */
const accessLogFields = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  ms: '$context.responseLatency',
  functionMs: '$context.integrationLatency',
  caller: '$context.identity.userArn',
  error: '$context.error.message',
  functionError: '$context.integrationErrorMessage',
};
