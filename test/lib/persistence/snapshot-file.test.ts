import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStore } from '../../../lib/persistence/file-store.ts';
import { readSnapshotFile } from '../../../lib/persistence/snapshot-file.ts';
import { textDump } from '../../contracts/snapshot-store-contract.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dormouse-snapshot-file-'));
});
afterEach(() => rm(directory, { recursive: true }));

const store = () => fileStore(directory);
const stored = async () => {
  await store().put('support/user-1', await textDump('asleep'), { expiresAt: new Date('2100-01-01') });
  const path = join(directory, (await readdir(directory))[0] ?? '');
  const [line = '', ...rest] = (await readFile(path, 'latin1')).split('\n');
  const write = (header: unknown) => writeFile(path, [JSON.stringify(header), ...rest].join('\n'), 'latin1');
  return { header: JSON.parse(line) as Record<string, unknown>, write };
};

test('a header without one of its fields, or with another type in it, is corrupt', async () => {
  const { header, write } = await stored();
  const { expiresAt: _optional, ...required } = header;
  const damaged = Object.entries(required).flatMap(([name, value]) => {
    const { [name]: _gone, ...without } = header;
    return [
      without,
      { ...header, [name]: typeof value === 'string' ? 7 : String(value) },
      { ...header, [name]: null },
    ];
  });
  const others = [
    null,
    [],
    'text',
    { ...header, format: 'xml' },
    { ...header, encoding: 'br' },
    { ...header, bytes: 0.5 },
  ];

  for (const one of [...damaged, ...others]) {
    await write(one);
    await expect(store().get('support/user-1'), JSON.stringify(one)).rejects.toMatchObject({
      code: 'corrupt',
    });
    await expect(store().list({ scope: 'support', limit: 1 })).rejects.toMatchObject({ code: 'corrupt' });
  }
  await write(header);
  expect(await store().get('support/user-1')).toMatchObject({ bytes: header.bytes });
  expect(() => readSnapshotFile(Buffer.from('no line'))).toThrow(
    expect.objectContaining({ code: 'corrupt' }),
  );
});

test('a list takes no notice of other files; one that cannot be read is unavailable, not passed over', async () => {
  await stored();
  await writeFile(join(directory, 'notes.txt'), 'not a snapshot');
  const listed = () => store().list({ scope: 'support', limit: 9 });
  expect((await listed()).items.map(({ key }) => key)).toEqual(['user-1']);

  await mkdir(join(directory, 'folder.snapshot'));

  await expect(listed()).rejects.toMatchObject({ code: 'unavailable' });
});

test('a folder that is none is unavailable for a while; one that is not there yet holds nothing', async () => {
  const file = join(directory, 'a-file');
  await writeFile(file, '');
  const nowhere = fileStore(join(directory, 'later'));

  await expect(fileStore(join(file, 'below')).get('support/user-1')).rejects.toMatchObject({
    ...{ code: 'unavailable', retryable: true },
  });
  expect(await nowhere.get('support/user-1')).toBeUndefined();
  expect(await nowhere.list({ scope: 'support', limit: 9 })).toEqual({ items: [], next: undefined });
});
