import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startUntilReady, temporaryFolder } from './local-process.ts';

/* What somebody sees on the console who writes an action, a dump or a load that fails. */

test('a failed session is on the console with its place in the source, and a run with how it ended', async () => {
  const folder = temporaryFolder();
  const agents = join(folder, 'agents.ts');
  writeFileSync(
    join(folder, 'deep.ts'),
    `interface Shape { readonly foo?: { readonly bar: string } }

export function deep(shape: Shape): string {
  return (shape.foo as { bar: string }).bar;
}
`,
  );
  writeFileSync(
    agents,
    `import { defineAgent, failed, type SessionJobHandler } from 'dormouse';
import { deep } from './deep.ts';

const look: SessionJobHandler = (session, { logger }) => {
  logger.info('looking', { at: session.id });
  return deep({});
};
export default [
  defineAgent({ name: 'broken', actions: { look, refuse: () => failed('no such room') } }),
  defineAgent({
    name: 'forgetful',
    load: () => {
      throw new Error('of another age');
    },
  }),
];
`,
  );
  const server = await startUntilReady('--memory', '--agents', agents);
  const send = (method: string, path: string, body?: string) =>
    fetch(`${server.url}/v1/agents/${path}`, {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    });
  await send('PUT', 'broken/sessions/chat-1', '{}');
  for (const action of ['look', 'refuse']) await send('POST', 'broken/runs', JSON.stringify({ action }));
  await send('PUT', 'forgetful/instances/i', '{}');
  expect((await send('GET', 'forgetful/instances/i')).status).toBe(500);

  await vi.waitFor(() => {
    const { stdout, stderr } = server.printed();
    expect(stderr).toMatch(/a session failed .*action: 'look'.*sessionId: 'chat-1'.*\nTypeError: .*\n/);
    expect(stderr).toContain(`${join(folder, 'deep.ts')}:4:41`);
    expect(stderr).toContain(`${agents}:6:10`);
    expect(stderr).toMatch(/a session failed .*action: 'refuse'.*\nJobOutcomeError: no such room\n/);
    expect(stderr).toContain(`${agents}:9:`);
    expect(stderr).toMatch(/load of agent 'forgetful' failed: of another age\nError: of another age\n/);
    expect(stderr).toContain(`${agents}:13:`);
    expect(stdout).toContain("looking { at: 'chat-1' }");
    expect(stdout).toMatch(/the run is complete .*action: 'look'.*sessions: 1, ok: 0, failed: 1, .*ms: \d+/);
  }, 20_000);
  const { items } = (await (await send('GET', 'broken/errors')).json()) as { items: { stack: string }[] };
  expect(items.map(({ stack }) => stack).join()).toContain(`${join(folder, 'deep.ts')}:4:41`);
});
