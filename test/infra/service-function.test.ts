import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { afterAll, describe, expect, test } from 'vitest';
import { assertBundlerInstalled, ServiceFunction } from '../../infra/constructs/service-function.ts';
import { lazyModules } from '../../infra/lazy-modules.ts';
import { projectRoot } from '../../infra/project.ts';
import { serviceFunctions } from '../../infra/service-functions.ts';

const folder = mkdtempSync(join(tmpdir(), 'dormouse-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

const defaults = {
  ...{ actionNames: {}, leftOut: [], environment: {}, retain: false },
  ...{ timeoutSecs: 29, memorySize: 1024, takesEvents: false, sourceMap: false },
} as const;

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
      const { entry } = serviceFunctions.api;

      const bundle = bundled((stack) => {
        new ServiceFunction(stack, 'Bundled', {
          ...defaults,
          ...{ description: '', entry, agents },
        });
      });

      const answer = await invoke(bundle, '/v1/agents');
      expect(answer.statusCode).toBe(200);
      expect(JSON.parse(answer.body).items).toMatchObject([{ name: 'elsewhere' }]);
    },
  );

  test('is made without the actions that the agents module imports later, and knows their names', async () => {
    const agents = join(folder, 'lazy agents.ts');
    writeFileSync(
      agents,
      `import { defineAgent } from 'dormouse';
       import { shared } from './shared.ts';
       export default [
         defineAgent({ name: 'lazy', actions: () => import('./actions of it.ts'), schedules: [] }),
         defineAgent({ name: 'shared', actions: async () => (await import('./shared.ts')).shared }),
       ];`,
    );
    writeFileSync(
      join(folder, 'actions of it.ts'),
      `import { shared } from './shared.ts';
       if (shared) throw new Error('evaluated ' + 'in vain');
       export default { digest: () => 1 };`,
    );
    writeFileSync(join(folder, 'shared.ts'), 'export const shared = { visit: () => 1 };');
    const leftOut = lazyModules(agents);
    expect(leftOut).toEqual([join(folder, 'actions of it.ts')]);

    const { entry } = serviceFunctions.api;
    const actionNames = { lazy: ['digest', 'prune-raw-memory'], shared: ['visit', 'prune-raw-memory'] };
    const bundle = bundled((stack) => {
      new ServiceFunction(stack, 'Bundled', {
        ...defaults,
        ...{ description: '', entry, agents, actionNames, leftOut },
      });
    });

    expect(readFileSync(bundle, 'utf8')).not.toMatch(/evaluated in vain|evaluated /);
    const { items } = JSON.parse((await invoke(bundle, '/v1/agents')).body);
    expect(items).toMatchObject([
      { name: 'lazy', actions: ['digest', 'prune-raw-memory'] },
      { name: 'shared', actions: ['visit', 'prune-raw-memory'] },
    ]);
  });

  test('is made without what sends webhooks, also where an agents module has one at hand', async () => {
    const agents = join(folder, 'webhooks.ts');
    writeFileSync(
      agents,
      `import { defineAgent, webhook } from 'dormouse';
       const digest = webhook({ url: 'https://agents.example.com/digest', secret: 'DIGEST_SECRET' });
       export default [defineAgent({ name: 'sent', actions: { digest } })];`,
    );
    const leftOut = lazyModules(agents);
    expect(leftOut).toEqual([join(projectRoot, 'lib/webhooks/send-webhook.ts')]);

    const { entry } = serviceFunctions.api;
    const made = (...without: string[]) =>
      bundled((stack) => {
        const props = { ...defaults, description: '', entry, agents, leftOut: without };
        new ServiceFunction(stack, 'Bundled', props);
      });
    const [bundle, whole] = [made(...leftOut), made()].map((file) => readFileSync(file, 'utf8'));

    expect(whole).toContain('webhook-signature');
    expect(bundle).not.toContain('webhook-signature');
    expect(bundle).not.toContain('ipaddr');
  });

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
    ...{ version: '2.0', routeKey: `GET ${path}` },
    rawPath: path,
    headers: {},
    requestContext: { requestId: 'r', stage: '$default', http },
    isBase64Encoded: false,
  });
}
