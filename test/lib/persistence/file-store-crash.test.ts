import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileStore } from '../../../lib/persistence/file-store.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';

const writer = fileURLToPath(new URL('../../support/file-writer.ts', import.meta.url));

describe('the file store of several processes', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dormouse-file-store-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  const start = (...args: string[]): ChildProcess =>
    fork(writer, [directory, ...args], { execArgv: ['--import', 'tsx'] });

  test('lets one of the writers win that hold one ETag', async () => {
    const store = fileStore(directory);
    const first = await hibernate({ store }, 'support', 'user-1', 'first');
    const etag = first.status === 'ok' ? first.etag : '';

    const writers = ['a', 'b', 'c', 'd'].map((name) => start('once', name, etag));
    const results = await Promise.all(
      writers.map(async (child) => (await once(child, 'message'))[0] as string),
    );

    expect(results.filter((status) => status === 'ok')).toHaveLength(1);
    expect(results.filter((status) => status === 'conflict')).toHaveLength(3);
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({
      agent: ['a', 'b', 'c', 'd'][results.indexOf('ok')],
    });
  });

  test('loses nothing that one acknowledged which was killed while it wrote, and blocks nobody', async () => {
    for (const killAfter of [1, 7, 20]) {
      const child = start('forever', String(killAfter));
      let acknowledged = 0;
      child.on('message', (count: number) => {
        acknowledged = count;
        if (count >= killAfter) child.kill('SIGKILL');
      });
      await once(child, 'exit');

      const store = fileStore(directory);
      const found = await thaw<{ count: number; padding: string }>({ store }, 'support', 'user-1');
      expect(found.status).toBe('ok');
      if (found.status !== 'ok') continue;
      expect(found.agent.count).toBeGreaterThanOrEqual(acknowledged);
      expect(found.agent.padding).toHaveLength(200_000);
      expect(await hibernate({ store }, 'support', 'user-1', 'after')).toMatchObject({ status: 'ok' });
    }
  }, 60_000);
});
