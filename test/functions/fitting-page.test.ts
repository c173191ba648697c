import { describe, expect, test } from 'vitest';
import { assertListable, pageAnswer } from '../../functions/http/fitting-page.ts';
import { payloadMaxBytes } from '../../functions/http/limits.ts';
import { decodeCursor } from '../../functions/http/paging.ts';
import type { HttpRequest } from '../../functions/http/request.ts';
import { toResult } from '../../functions/http/response.ts';
import { TooLargeError } from '../../lib/errors.ts';

const list = ['a list'];

/** A list of texts of these lengths, whose places are their positions, and what was read of it at once. */
function listOf(lengths: readonly number[], character = 'x') {
  const reads: number[] = [];
  const fetch = async (limit: number, after: string | undefined) => {
    const start = Number(after ?? 0);
    const end = Math.min(start + limit, lengths.length);
    reads.push(end - start);
    const items = lengths.slice(start, end).map((length, index) => ({
      id: start + index,
      text: character.repeat(length),
    }));
    return { items, next: end < lengths.length ? String(end) : undefined };
  };
  return { fetch, reads };
}

async function pagesOf(fetch: ReturnType<typeof listOf>['fetch'], limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  let after: string | undefined;
  do {
    const answer = await pageAnswer({ list, limit, after }, fetch);
    expect(Buffer.byteLength(JSON.stringify(toResult(answer)))).toBeLessThanOrEqual(payloadMaxBytes);
    const { items, cursor } = JSON.parse(String(answer.body)) as { items: { id: number }[]; cursor?: string };
    pages.push(items.map(({ id }) => id));
    after = decodeCursor(list, { query: { cursor } } as unknown as HttpRequest);
  } while (after !== undefined);
  return pages;
}

describe('a page of a list', () => {
  test.each([
    ['small items', Array(1000).fill(10), 'x'],
    ['large items', Array(60).fill(450_000), 'x'],
    ['items of quotes, which take four bytes each on their way', Array(12).fill(450_000), '"'],
    ['a large item among small ones', [...Array(30).fill(10), 5_500_000, ...Array(30).fill(10)], 'x'],
    ['large items after small ones', [...Array(200).fill(10), ...Array(8).fill(1_500_000)], 'x'],
  ])(
    '%s: every item comes once and in order, in answers that Lambda can send',
    async (_what, lengths, of) => {
      for (const limit of [7, 1000]) {
        const pages = await pagesOf(listOf(lengths, of).fetch, limit);

        expect(pages.flat()).toEqual(lengths.map((_length: number, index: number) => index));
        expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(limit);
        expect(Math.min(...pages.map((page) => page.length))).toBeGreaterThan(0);
      }
    },
  );

  test('as many items as asked for, in few reads, where they are small', async () => {
    const { fetch, reads } = listOf(Array(1000).fill(10));

    expect(await pagesOf(fetch, 1000)).toHaveLength(1);
    expect(reads.length).toBeLessThanOrEqual(5);
  });

  test('a thousand large items are never read at once', async () => {
    const { fetch, reads } = listOf(Array(1000).fill(450_000));

    await pageAnswer({ list, limit: 1000, after: undefined }, fetch);

    expect(Math.max(...reads)).toBeLessThanOrEqual(25);
  });

  test('an item that fits into no answer is an error that says so', async () => {
    const { fetch } = listOf([7_000_000, 1]);

    await expect(pageAnswer({ list, limit: 50, after: undefined }, fetch)).rejects.toThrow(TooLargeError);
    expect(() => assertListable({ text: '"'.repeat(1_600_000) })).toThrow(TooLargeError);
    expect(() => assertListable({ text: '"'.repeat(1_500_000) })).not.toThrow();
  });
});
