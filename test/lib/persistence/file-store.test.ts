import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileStore } from '../../../lib/persistence/file-store.ts';
import { forget } from '../../../lib/persistence/forget.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import { replaceFile } from '../../../lib/persistence/replace-file.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';

describe('the file store', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dormouse-file-store-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  const snapshotFile = async () =>
    join(directory, (await readdir(directory)).find((name) => name.endsWith('.snapshot')) ?? '');

  test('keeps one file per key and no other', async () => {
    const store = fileStore(directory);
    await hibernate({ store }, 'support', '../../etc/passwd', 'here');
    await hibernate({ store }, 'support', '../../etc/passwd', 'again');
    await hibernate({ store }, 'support', 'x'.repeat(512), 'long');

    expect(await readdir(directory)).toHaveLength(2);
    expect(await thaw({ store: fileStore(directory) }, 'support', '../../etc/passwd')).toMatchObject({
      agent: 'again',
      version: 2,
    });
  });

  test('a list reads no data and holds no more than a page, in key order', async () => {
    const store = fileStore(directory);
    const keys = Array.from({ length: 60 }, (_, index) => `user-${String(index).padStart(2, '0')}`);
    for (const key of keys) await hibernate({ store }, 'support', key, randomBytes(10_000));
    // Behind their headers, so many bytes that a list that read them could not hold them.
    for (const name of await readdir(directory)) await truncate(join(directory, name), 2 ** 40);

    const listed: string[] = [];
    for (let after: string | undefined; ; ) {
      const { items, next } = await store.list({ scope: 'support', limit: 7, after });
      listed.push(...items.map(({ key }) => key));
      if (next === undefined) break;
      after = next;
    }

    expect(listed).toEqual(keys);
  });

  test('a file without a readable header is named by the list, which never passes over it', async () => {
    const store = fileStore(directory);
    await hibernate({ store }, 'support', 'user-1', 'asleep');
    const file = await snapshotFile();
    await hibernate({ store }, 'support', 'user-2', 'asleep');
    await truncate(file, 20);

    const listing = store.list({ scope: 'support', limit: 7 });

    await expect(listing).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(basename(file)),
    });
  });

  test('a file that is cut short, changed, of another key or unreadable is corrupt or unavailable, never not_found', async () => {
    const store = fileStore(directory);
    const spoil: ((path: string) => Promise<unknown>)[] = [
      (path) => truncate(path, 60),
      (path) => truncate(path, 0),
      async (path) => truncate(path, (await readFile(path)).length - 1),
      async (path) => writeFile(path, (await readFile(path, 'latin1')).replace('asleep', 'awake!'), 'latin1'),
      async (path) => writeFile(path, (await readFile(path, 'latin1')).replace('user-1', 'user-2'), 'latin1'),
      async (path) => writeFile(path, (await readFile(path, 'latin1')).replace('"v":1', '"v":2'), 'latin1'),
    ];
    for (const damage of spoil) {
      await forget({ store }, 'support', 'user-1');
      await hibernate({ store }, 'support', 'user-1', 'asleep');
      await damage(await snapshotFile());

      expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({
        status: 'error',
        error: { code: 'corrupt' },
      });
    }
    expect(await forget({ store }, 'support', 'user-1')).toEqual({ status: 'ok' });
    expect(await thaw({ store }, 'support', 'user-1')).toEqual({ status: 'not_found' });
  });

  test('a writer that lost its lock replaces nothing and leaves nothing', async () => {
    const path = join(directory, 'x.snapshot');
    await replaceFile(path, Buffer.from('first'), { id: 'a', beforeRename: () => {} });

    const beforeRename = () => {
      throw new Error('the lock is lost');
    };
    await expect(replaceFile(path, Buffer.from('late'), { id: 'b', beforeRename })).rejects.toThrow('lost');

    expect(await readFile(path, 'utf8')).toBe('first');
    expect(await readdir(directory)).toEqual(['x.snapshot']);
  });

  test('what a writer left that died is removed by the next one of that key', async () => {
    const store = fileStore(directory);
    await hibernate({ store }, 'support', 'user-1', 1);
    await writeFile(`${await snapshotFile()}.some-etag.next`, 'half a snapshot');

    await hibernate({ store }, 'support', 'user-1', 2);

    expect(await readdir(directory)).toHaveLength(1);
  });

  test('a folder that cannot be used is unavailable', async () => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    const store = fileStore(join(file, 'below'));

    const unavailable = { status: 'error', error: { code: 'unavailable' } };
    expect(await hibernate({ store }, 'support', 'user-1', 1)).toMatchObject(unavailable);
    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject(unavailable);
  });
});
