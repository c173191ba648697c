import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { bundleAliases, bundling, definedActionNames } from '../bundling.ts';
import { projectRoot } from '../project.ts';
import { serviceLogs } from './service-logs.ts';

export interface ServiceFunctionProps {
  readonly description: string;
  /** Relative to the project. */
  readonly entry: string;
  /** The module that takes the place of `#agents`, as an absolute path. */
  readonly agents: string;
  /** Of each agent; the function need not load them for their names. */
  readonly actionNames: Readonly<Record<string, readonly string[]>>;
  /** Files that the bundle is made without: nothing in this function imports them. */
  readonly leftOut: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly retain: boolean;
  readonly timeoutSecs: number;
  /** Megabytes. */
  readonly memorySize: number;
  /** Whether its stacks tell places in the sources: a map is read where one is looked at, and costs nothing before. */
  readonly sourceMap: boolean;
  /** Invoked asynchronously: whoever arranges that says how often it is tried. Any other is not tried again. */
  readonly takesEvents: boolean;
}

/**
 * A Lambda function with the house defaults: Node.js 24 on arm64, one minified file with everything in it, a log group
 * and a role of its own. The role may write that log and nothing else, until something is granted.
 */
export class ServiceFunction extends NodejsFunction {
  readonly timeoutSecs: number;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    assertBundlerInstalled();
    const logGroup = serviceLogs(scope, `${id}Logs`, props);
    // Not the managed AWSLambdaBasicExecutionRole: that one may write to every log of the account.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    super(scope, id, {
      description: props.description,
      entry: join(projectRoot, props.entry),
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memorySize,
      timeout: Duration.seconds(props.timeoutSecs),
      environment: { ...(props.sourceMap && { NODE_OPTIONS: '--enable-source-maps' }), ...props.environment },
      logGroup,
      role,
      bundling: {
        format: OutputFormat.CJS,
        minify: true,
        ...(props.sourceMap && { sourceMap: true, sourcesContent: false }),
        logLevel: LogLevel.WARNING,
        target: bundling.target,
        mainFields: [...bundling.mainFields],
        define: { ...bundling.define, ...definedActionNames(props.actionNames) },
        // The SDK goes into the bundle: the version that was tested, and quicker to load than the runtime's.
        externalModules: [],
        esbuildArgs: {
          '--external': [...props.leftOut],
          '--alias': Object.entries(bundleAliases(props.agents)).map(([name, file]) => `${name}=${file}`),
        },
      },
    });
    this.timeoutSecs = props.timeoutSecs;
    // Lambda's own default would be two more tries within six hours.
    if (!props.takesEvents) this.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  }
}

/** Without it the CDK would turn to Docker, and fail in a way that does not say what is missing. */
export function assertBundlerInstalled(from: string = import.meta.url): void {
  try {
    createRequire(from).resolve('esbuild');
  } catch (error) {
    throw new Error('esbuild, which bundles the functions, is not installed: run npm ci', { cause: error });
  }
}
