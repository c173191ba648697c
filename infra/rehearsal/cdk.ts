import { devNull } from 'node:os';
import { join } from 'node:path';
import { type AwsCalls, account, administrator, region } from './aws-calls.ts';
import { withoutAws } from './emulator.ts';
import { runCommand } from './processes.ts';

export interface Cdk {
  bootstrap(): Promise<string>;
  /** Writes the assembly into the folder. */
  synth(folder: string): Promise<string>;
  /** Deploys the assembly of the folder, and writes the outputs beside it. Resolves what the command printed. */
  deploy(folder: string): Promise<string>;
  destroy(folder: string): Promise<string>;
}

/** Those of the black-box suite, whose schedules are due every minute. */
const agents = 'test/e2e/agents.ts';

/** The real `cdk`, which finds the emulator where the environment says AWS is. */
export function cdk(options: {
  readonly root: string;
  readonly endpoint: string;
  readonly workFolder: string;
  readonly logFile: string;
  /** Settings, besides those of every rehearsal. */
  readonly context: Readonly<Record<string, string>>;
}): Cdk {
  const { root, endpoint, workFolder, logFile } = options;
  const env = { ...withoutAws(process.env), ...awsEnvironment(endpoint), CDK_DISABLE_CLI_TELEMETRY: 'true' };
  const program = join(root, 'node_modules/aws-cdk/bin/cdk');
  const run = (cwd: string, ...args: string[]) =>
    runCommand({
      command: process.execPath,
      args: [program, ...args, '--no-notices', '--ci', '--no-color'],
      ...{ env, cwd, logFile },
    });
  const settings = Object.entries({ retain: 'false', agents, ...options.context });
  const context = settings.flatMap(([name, value]) => ['--context', `${name}=${value}`]);
  const app = (folder: string) => ['--all', '--app', assemblyOf(folder)];
  const outputs = (folder: string) => ['--outputs-file', join(folder, 'outputs.json')];
  return {
    // Elsewhere than in the project, where it would synthesize the app first.
    bootstrap: () => run(workFolder, 'bootstrap', `aws://${account}/${region}`),
    synth: (folder) => run(root, 'synth', '--quiet', ...context, '--output', assemblyOf(folder)),
    deploy: (folder) =>
      run(
        root,
        'deploy',
        ...app(folder),
        ...outputs(folder),
        '--require-approval',
        'never',
        '--progress',
        'events',
      ),
    destroy: (folder) => run(root, 'destroy', ...app(folder), '--force'),
  };
}

export function assemblyOf(folder: string): string {
  return join(folder, 'assembly');
}

function awsEnvironment(endpoint: string): NodeJS.ProcessEnv {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: administrator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: administrator.secretAccessKey,
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

/**
 * The bootstrap bucket's own policy refuses requests without TLS, which the emulator enforces and does not offer here.
 * Nothing in the app has to know.
 */
export async function allowAssetsWithoutTls(aws: AwsCalls): Promise<void> {
  await aws.rest('s3', 'DELETE', `/cdk-hnb659fds-assets-${account}-${region}?policy`);
}

/** CloudFormation found nothing to do, for any stack of the app. */
export function changedNothing(output: string): boolean {
  const results = output.split('\n').filter((line) => line.includes('✅'));
  return results.length > 0 && results.every((line) => line.includes('(no changes)'));
}
