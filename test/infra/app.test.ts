import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/project.ts';

const folder = mkdtempSync(join(tmpdir(), 'dormouse-app-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the CDK app', () => {
  // That it may as well be TypeScript or an ES module is for the tests of agents files: it is read with the same code.
  test('deploys the schedules of the agents file, also of one outside the project that is CommonJS', () => {
    const { status, template } = synthesize(
      `const { defineAgent, scheduleDescriptor } = require('dormouse');
       const schedules = [scheduleDescriptor('nightly', '0 3 * * *', 'prune-raw-memory')];
       const agents = [defineAgent({ name: 'outsider', schedules }), defineAgent({ name: 'idle' })];
       module.exports = { __esModule: true, default: agents };`,
      'agents.cjs',
    );

    expect(status).toBe(0);
    expect(template()).toContain('dormouse-dev_outsider_nightly_');
    expect(template()).toContain('cron(0 3 * * ? *)');
  });

  // What else can be wrong with one is for the tests of the local server, which reads it with the same code.
  test('says in one line what is wrong with an agents file', () => {
    const { status, stderr } = synthesize("throw new Error('no such setting');");

    expect(status).toBe(1);
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining('no such setting')]);
    expect(stderr).toContain(`the agents file ${join(folder, 'agents.ts')} cannot be used`);
  });
});

/** Runs the app as the CDK's command does, without bundling. */
function synthesize(agentsSource: string, name = 'agents.ts') {
  const agents = join(folder, name);
  writeFileSync(agents, agentsSource);
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'infra/app.ts'], {
    cwd: projectRoot,
    encoding: 'utf8',
    env: {
      ...process.env,
      CDK_OUTDIR: folder,
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({ agents, 'aws:cdk:bundling-stacks': [] }),
    },
  });
  return { status, stderr, template: () => readFileSync(join(folder, 'Dormouse.template.json'), 'utf8') };
}
