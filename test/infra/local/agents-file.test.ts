import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runToEnd, startUntilReady, temporaryFolder } from './local-process.ts';

function agentsFile(name: string, source: string): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, source);
  return file;
}

describe('an agents file outside the project', () => {
  // agents.ts is that of the other tests.
  it.each(['agents.mts', 'agents.js', 'agents.mjs'])(
    'is served in place of the project’s: %s',
    async (name) => {
      const file = agentsFile(
        name,
        `import { defineAgent } from 'dormouse';
       export default [defineAgent({ name: 'outsider', load: (dump) => ({ ...dump, woken: true }) })];`,
      );
      const { url } = await startUntilReady('--memory', '--agents', file);
      await fetch(`${url}/v1/agents/outsider/instances/k`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      });

      const agents = (await (await fetch(`${url}/v1/agents`)).json()) as { items: { name: string }[] };
      const state = await (await fetch(`${url}/v1/agents/outsider/instances/k`)).json();

      expect(agents.items.map((agent) => agent.name)).toEqual(['outsider']);
      expect(state).toEqual({ a: 1, woken: true });
    },
  );

  it.each([
    ['agents.cjs', 'module.exports = { __esModule: true, default: agents };'],
    ['agents.js', 'module.exports = agents;'],
    ['agents.cts', 'exports.default = agents as unknown; exports.__esModule = true;'],
  ])(
    'that is CommonJS is served too, with the files that it requires, over one instance of the library: %s',
    async (name, exported) => {
      const file = agentsFile(
        name,
        `"use strict";
         const { defineAgent } = require('dormouse');
         const { refuse } = require('./refuse.cjs');
         const agents = [defineAgent({ name: 'a10', state: refuse })];
         ${exported}`,
      );
      writeFileSync(
        join(file, '..', 'refuse.cjs'),
        `const { TooLargeError } = require('dormouse');
         const validate = () => { throw new TooLargeError(2, 1); };
         exports.refuse = { '~standard': { version: 1, vendor: 'test', validate } };`,
      );
      // What tsc puts beside its output is not what was asked for.
      if (name === 'agents.js') writeFileSync(join(file, '..', 'agents.ts'), 'export default [];');
      const { url } = await startUntilReady('--memory', '--agents', file);

      const agents = (await (await fetch(`${url}/v1/agents`)).json()) as { items: { name: string }[] };
      const refused = await fetch(`${url}/v1/agents/a10/instances/k`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });

      expect(agents.items.map((agent) => agent.name)).toEqual(['a10']);
      expect(await refused.json()).toMatchObject({ code: 'too_large', limit: 1 });
    },
  );

  it('shares one instance of the library with the handlers and with the files that it imports', async () => {
    const file = agentsFile(
      'agents.ts',
      `import { defineAgent } from 'dormouse';
       import { refuse } from './refuse.ts';
       export default [defineAgent({ name: 'strict', state: refuse })];`,
    );
    writeFileSync(
      join(file, '..', 'refuse.ts'),
      `import { TooLargeError } from 'dormouse';
       export const refuse = {
         '~standard': { version: 1, vendor: 'test', validate: (): never => { throw new TooLargeError(2, 1); } },
       };`,
    );
    const { url } = await startUntilReady('--memory', '--agents', file);

    const response = await fetch(`${url}/v1/agents/strict/instances/k`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });

    expect(await response.json()).toMatchObject({ code: 'too_large', limit: 1 });
  });

  it.each([
    ['a syntax error', `export default [;`, /agents\.ts:1:16: /],
    ['no default export', `export const agents = [];`, /must default-export an array of defineAgent/],
    [
      'a default export that is no array',
      `export default {};`,
      /must default-export an array of defineAgent/,
    ],
    [
      'a definition that contradicts itself',
      `import { defineAgent } from 'dormouse'; export default [defineAgent({ name: 'a b' })];`,
      /agents\.ts:1:57: agent "a b": the name must match/,
    ],
    ['something that is no definition', `export default [null];`, /an agent definition must be an object/],
    [
      'two agents of one name',
      `export default [{ name: 'twin' }, { name: 'twin' }];`,
      /two agents are named 'twin'/,
    ],
    ['nothing but CommonJS that exports no array', `exports.agents = [];`, /must default-export an array/],
    ['an import that is not there', `import 'no-such-package'; export default [];`, /no-such-package/],
    ['code that throws', `\nthrow new Error('first\\nsecond');`, /agents\.ts:2:7: first$/m],
  ])('with %s is refused in one line that names it', async (_case, source, reason) => {
    const file = agentsFile('agents.ts', source);

    const { code, stdout, stderr } = await runToEnd('--port', '0', '--memory', '--agents', file);

    expect(stderr).toMatch(/^dormouse: [^\n]+\n$/);
    expect(stderr).toContain(file);
    expect(stderr).toMatch(reason);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('that is CommonJS in a package of ES modules is refused in one line, and what to do', async () => {
    const file = agentsFile('agents.js', 'module.exports = [];');
    writeFileSync(join(file, '..', 'package.json'), '{"type":"module"}');

    const { code, stderr } = await runToEnd('--memory', '--agents', file);

    expect(stderr).toMatch(/^dormouse: [^\n]+ it is CommonJS, [^\n]+, or name it \.cjs\n$/);
    expect(code).toBe(1);
  });

  it('that is a folder is refused in one line', async () => {
    const { code, stderr } = await runToEnd('--memory', '--agents', 'functions');

    expect(stderr).toMatch(
      /^dormouse: the agents file [^\n]+functions is no file, but a folder or the like\n$/,
    );
    expect(code).toBe(1);
  });

  it('that does not exist is refused in one line', async () => {
    const { code, stderr } = await runToEnd('--memory', '--agents', 'no/such/agents.ts');

    expect(stderr).toMatch(/^dormouse: there is no agents file [^\n]+no\/such\/agents\.ts\n$/);
    expect(code).toBe(1);
  });
});
