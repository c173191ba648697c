import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { runToEnd, startUntilReady } from './local-process.ts';
import type { Outcome } from './use-agents-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'dormouse-agents-'));

/** Each in a folder of its own, by name. */
function agentsFile(
  name: string,
  source: string,
  beside: Record<string, string> = {},
  linked: readonly string[] = [],
): string {
  const own = mkdtempSync(join(folder, 'file-'));
  for (const [other, text] of Object.entries(beside)) {
    mkdirSync(dirname(join(own, other)), { recursive: true });
    writeFileSync(join(own, other), text);
  }
  for (const name of linked) symlinkSync(join(own, name), join(own, 'node_modules', name));
  writeFileSync(join(own, name), source);
  return join(own, name);
}

const awake = `import { defineAgent } from 'dormouse';
  export default [defineAgent({ name: 'outsider', load: (dump) => ({ ...dump, woken: true }) })];`;
const strict = (imports: string, exported: string) => `${imports}
  const agents = [defineAgent({ name: 'strict', state: refuse })];
  ${exported}`;
const required = `"use strict";
  const { defineAgent } = require('dormouse');
  const { refuse } = require('./refuse.cjs');`;
const refuse = `() => { throw new TooLargeError(2, 1); }`;
const refuseCjs = `const { TooLargeError } = require('dormouse');
  exports.refuse = { '~standard': { version: 1, vendor: 'test', validate: ${refuse} } };`;
const refuseTs = `import { TooLargeError } from 'dormouse';
  export const refuse = { '~standard': { version: 1, vendor: 'test', validate: (): never => { throw new TooLargeError(2, 1); } } };`;

const outsider = { agents: ['outsider'], loaded: { a: 1, woken: true } };
const shared = { agents: ['strict'], isOneLibrary: true };
const served: readonly [name: string, file: string, expected: Outcome][] = [
  ['agents.mts', agentsFile('agents.mts', awake), outsider],
  ['agents.js', agentsFile('agents.js', awake), outsider],
  ['agents.mjs', agentsFile('agents.mjs', awake), outsider],
  [
    'agents.ts, with a file that it imports',
    agentsFile(
      'agents.ts',
      strict(
        `import { defineAgent } from 'dormouse'; import { refuse } from './refuse.ts';`,
        'export default agents;',
      ),
      { 'refuse.ts': refuseTs },
    ),
    shared,
  ],
  [
    'agents.cjs, with a file that it requires',
    agentsFile('agents.cjs', strict(required, 'module.exports = { __esModule: true, default: agents };'), {
      'refuse.cjs': refuseCjs,
    }),
    shared,
  ],
  [
    'agents.js that is CommonJS, beside an agents.ts that was not asked for',
    agentsFile('agents.js', strict(required, 'module.exports = agents;'), {
      'refuse.cjs': refuseCjs,
      'agents.ts': 'export default [];',
    }),
    shared,
  ],
  [
    'agents.cts',
    agentsFile(
      'agents.cts',
      strict(required, 'exports.default = agents as unknown; exports.__esModule = true;'),
      { 'refuse.cjs': refuseCjs },
    ),
    shared,
  ],
  [
    'agents.ts, with packages of its own: ES modules, CommonJS, and one that is linked and TypeScript',
    agentsFile(
      'agents.ts',
      `import { readFileSync } from 'node:fs';
       import { defineAgent } from 'dormouse';
       import { mark } from 'marking';
       import marked from 'marked';
       import { linked } from 'linked';
       export default [defineAgent({ name: linked + readFileSync.length, load: (dump) => mark({ ...dump, ...marked }) })];`,
      {
        'node_modules/marking/package.json': '{"type":"module","exports":"./index.js"}',
        'node_modules/marking/index.js':
          'export const mark = (state) => ({ ...state, url: import.meta.url });',
        'node_modules/marked/index.js': 'exports.folder = __dirname; exports.text = require("./text.json");',
        'node_modules/marked/text.json': '"read"',
        'linked/index.ts': 'export const linked: string = "linked";',
        'linked/package.json': '{"main":"index.ts"}',
      },
      ['linked'],
    ),
    {
      agents: ['linked2'],
      loaded: {
        a: 1,
        url: expect.stringMatching(/node_modules\/marking\/index\.js$/),
        folder: expect.stringMatching(/node_modules\/marked$/),
        text: 'read',
      },
    },
  ],
];

const refused: readonly [what: string, file: string, reason: RegExp][] = [
  ['a syntax error', agentsFile('agents.ts', `export default [;`), /agents\.ts:1:16: /],
  [
    'no default export',
    agentsFile('agents.ts', `export const agents = [];`),
    /must default-export an array of defineAgent/,
  ],
  [
    'a default export that is no array',
    agentsFile('agents.ts', `export default {};`),
    /must default-export an array of defineAgent/,
  ],
  [
    'a definition that contradicts itself',
    agentsFile(
      'agents.ts',
      `import { defineAgent } from 'dormouse'; export default [defineAgent({ name: 'a b' })];`,
    ),
    /agents\.ts:1:57: agent "a b": the name must match/,
  ],
  [
    'something that is no definition',
    agentsFile('agents.ts', `export default [null];`),
    /an agent definition must be an object/,
  ],
  [
    'two agents of one name',
    agentsFile('agents.ts', `export default [{ name: 'twin' }, { name: 'twin' }];`),
    /two agents are named 'twin'/,
  ],
  [
    'nothing but CommonJS that exports no array',
    agentsFile('agents.ts', `exports.agents = [];`),
    /must default-export an array/,
  ],
  [
    'an import that is not there',
    agentsFile('agents.ts', `import 'no-such-package'; export default [];`),
    /no-such-package/,
  ],
  [
    'code that throws',
    agentsFile('agents.ts', `\nthrow new Error('first\\nsecond');`),
    /agents\.ts:2:7: first$/,
  ],
  [
    'CommonJS in a package of ES modules',
    agentsFile('agents.js', 'module.exports = [];', { 'package.json': '{"type":"module"}' }),
    /it is CommonJS, .+, or name it \.cjs$/,
  ],
  ['a folder in its place', folderNamed('agents'), /agents is no file, but a folder or the like$/],
  ['nothing in its place', join(folder, 'no', 'agents.ts'), /^there is no agents file .+agents\.ts$/],
];

function folderNamed(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

describe('an agents file outside the project', () => {
  let outcomes: Outcome[];

  beforeAll(async () => {
    // One process for all: to start one takes longer than to load them.
    const files = [...served, ...refused].map(([, file]) => file);
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', 'tsx', 'test/infra/local/use-agents-files.ts'],
      ...files,
    ]);
    outcomes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    return () => rmSync(folder, { recursive: true });
  });

  it.each(served.map(([name, , expected], index) => ({ name, expected, index })))(
    'is used, over one instance of the library: $name',
    ({ expected, index }) => {
      expect(outcomes[index]).toMatchObject(expected);
    },
  );

  it.each(refused.map(([what, file, reason], index) => ({ what, file, reason, index })))(
    'with $what is refused in one line that names it',
    ({ file, reason, index }) => {
      const outcome = outcomes[served.length + index];

      expect(outcome).toEqual({ refused: expect.stringMatching(/^[^\n]+$/) });
      expect(outcome?.refused).toContain(file);
      expect(outcome?.refused).toMatch(reason);
    },
  );

  it('is served in place of the project’s, with the library of the handlers', async () => {
    const [, file] = served[6] as (typeof served)[number];
    const { url } = await startUntilReady('--memory', '--agents', file);

    const agents = (await (await fetch(`${url}/v1/agents`)).json()) as { items: { name: string }[] };
    const response = await fetch(`${url}/v1/agents/strict/instances/k`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });

    expect(agents.items.map((agent) => agent.name)).toEqual(['strict']);
    expect(await response.json()).toMatchObject({ code: 'too_large', limit: 1 });
  });

  it('that is refused ends the process with that line', async () => {
    const [, file] = refused[0] as (typeof refused)[number];

    const { code, stdout, stderr } = await runToEnd('--port', '0', '--memory', '--agents', file);

    expect(stderr).toMatch(/^dormouse: [^\n]+\n$/);
    expect(stderr).toContain(file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});
