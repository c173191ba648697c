import { expect, test } from 'vitest';
import { exportPageBytes } from '../../../lib/defaults.ts';
import { memoryUnderTest } from '../../support/memory-under-test.ts';
import { randomBytesOf } from '../../support/random-bytes.ts';

/** An export of so many messages, and the pages that it read: how many messages each held, and how many bytes. */
const exported = async (messages: number, bytesOfEach: number) => {
  const pages: { readonly items: number; readonly bytes: number }[] = [];
  const { memory } = memoryUnderTest((store) => ({
    async list(scope, kind, query) {
      const page = await store.list(scope, kind, query);
      const bytes = page.items.reduce((sum, { dump }) => sum + dump.data.length, 0);
      if (kind === 'message') pages.push({ items: page.items.length, bytes });
      return page;
    },
  }));
  const ids = Array.from({ length: messages }, (_, index) => `m${index}`);
  for (const id of ids)
    await memory.remember({ id, content: randomBytesOf(bytesOfEach, id).toString('base64url') });
  const found: string[] = [];
  for await (const part of memory.exportParts()) if (part.kind === 'message') found.push(part.value.id);
  expect(found).toEqual(ids);
  return pages;
};

test('an export reads small records in pages that grow', async () => {
  const pages = await exported(200, 10);

  expect(pages.slice(0, 4).map(({ items }) => items)).toEqual([4, 8, 16, 32]);
  expect(pages.length).toBeLessThan(8);
});

test('an export of large records holds about a megabyte at a time', async () => {
  const pages = await exported(24, exportPageBytes / 3);

  // One page may be twice as large as it should be: the next one is half of it.
  expect(Math.max(...pages.map(({ bytes }) => bytes))).toBeLessThan(3 * exportPageBytes);
  expect(pages.slice(2).filter(({ bytes }) => bytes > 2 * exportPageBytes).length).toBeLessThan(
    pages.length / 2,
  );
});
