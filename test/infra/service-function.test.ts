import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { assertBundlerInstalled, ServiceFunction } from '../../infra/constructs/service-function.ts';
import { serviceFunctions } from '../../infra/service-functions.ts';

const folder = mkdtempSync(join(tmpdir(), 'dormouse-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a bundle', () => {
  const required = "const { defineAgent } = require('dormouse');\n";
  test.each([
    [
      'agents.ts',
      "import { defineAgent } from 'dormouse';\nexport default [defineAgent({ name: 'elsewhere' })];\n",
    ],
    // As the local server reads them, which also says what is wrong with a file before anything is bundled.
    ['agents.js', `${required}module.exports = [defineAgent({ name: 'elsewhere' })];\n`],
    [
      'agents.cjs',
      `${required}module.exports = { __esModule: true, default: [defineAgent({ name: 'elsewhere' })] };\n`,
    ],
  ])(
    'holds the agents of the setting, also from outside the project, and all it needs: %s',
    async (name, source) => {
      const agents = join(folder, name);
      writeFileSync(agents, source);
      const { entry } = serviceFunctions['list-agents'];

      const bundle = bundled((stack) => {
        new ServiceFunction(stack, 'Bundled', {
          description: '',
          entry,
          agents,
          environment: {},
          retain: false,
          timeoutSecs: 29,
          takesEvents: false,
        });
      });

      const answer = await invoke(bundle, '/v1/agents');
      expect(answer.statusCode).toBe(200);
      expect(JSON.parse(answer.body).items).toMatchObject([{ name: 'elsewhere' }]);
    },
  );

  test('is not attempted without esbuild: the message says what to install', () => {
    expect(() => assertBundlerInstalled(join(folder, 'anywhere.js'))).toThrow(/^esbuild.*npm ci$/);
  });
});

/** The file of the only function of a stack, made as `cdk synth` makes it. */
function bundled(build: (stack: Stack) => void): string {
  const outdir = mkdtempSync(join(folder, 'out-'));
  process.env.CDK_VALIDATION = 'false';
  const app = new App({ outdir });
  build(new Stack(app, 'Bundles'));
  app.synth();
  const assets = readdirSync(outdir).map((name) => join(outdir, name, 'index.js'));
  const file = assets.find(existsSync);
  if (file === undefined) throw new Error('nothing was bundled');
  return file;
}

async function invoke(bundle: string, path: string): Promise<{ statusCode: number; body: string }> {
  const { handler } = createRequire(bundle)(bundle);
  const http = { method: 'GET', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' };
  return handler({
    version: '2.0',
    rawPath: path,
    headers: {},
    requestContext: { requestId: 'r', stage: '$default', http },
    isBase64Encoded: false,
  });
}
