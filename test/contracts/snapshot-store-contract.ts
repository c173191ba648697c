import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ConflictError } from '../../lib/errors.ts';
import { packState, unpackState } from '../../lib/persistence/pack.ts';
import type { Dump, SnapshotCatalog } from '../../lib/persistence/snapshot-store.ts';
import type { StoreOptions } from '../../lib/persistence/store-options.ts';
import { randomBytesOf } from '../support/random-bytes.ts';
import { type TestClock, testClock } from '../support/test-clock.ts';

export interface StoreUnderTest {
  /** A store over what this suite's other stores see too. */
  open(options: StoreOptions): SnapshotCatalog;
  close?(): Promise<void>;
}

export async function textDump(text: string): Promise<Dump> {
  return packState({
    format: 'json',
    contentType: 'application/json',
    data: Buffer.from(JSON.stringify(text)),
  });
}

export async function bytesDump(data: Uint8Array): Promise<Dump> {
  return packState({ format: 'bytes', contentType: 'application/octet-stream', data });
}

/** What every store must do. Each adapter runs all of it, over the same inputs. */
export function describeSnapshotStore(name: string, setUp: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the contract of a snapshot store`, () => {
    let underTest: StoreUnderTest;
    let clock: TestClock;
    let store: SnapshotCatalog;
    let key: string;
    let keys = 0;

    beforeAll(async () => {
      underTest = await setUp();
    });
    beforeEach(() => {
      clock = testClock();
      store = underTest.open({ clock: clock.now });
      key = `agent-${++keys}/instance`;
    });
    afterAll(async () => {
      await underTest.close?.();
    });

    const textOf = async (at = key) => {
      const snapshot = await store.get(at);
      return snapshot && JSON.parse(Buffer.from(await unpackState(snapshot.dump)).toString());
    };

    describe('get, head and put', () => {
      test('nothing is stored under a key that was never written', async () => {
        expect(await store.get(key)).toBeUndefined();
        expect(await store.head(key)).toBeUndefined();
      });

      test('what was put comes back with all that is known of it', async () => {
        const dump = await textDump('hello');

        const receipt = await store.put(key, dump, { expiresAt: new Date('2027-01-02T00:00:00.000Z') });

        expect(receipt).toEqual({ etag: receipt.etag, version: 1, updatedAt: clock.now(), created: true });
        const info = {
          etag: receipt.etag,
          version: 1,
          format: 'json',
          contentType: 'application/json',
          encoding: 'identity',
          bytes: 7,
          storedBytes: 7,
          updatedAt: clock.now(),
          expiresAt: new Date('2027-01-02T00:00:00.000Z'),
        };
        expect(await store.head(key)).toMatchObject(info);
        expect(await store.get(key)).toMatchObject(info);
        expect(await textOf()).toBe('hello');
      });

      test('a put replaces the whole snapshot and counts the version', async () => {
        const first = await store.put(key, await bytesDump(new Uint8Array(10)), {
          expiresAt: new Date('2027-01-02T00:00:00.000Z'),
        });
        const second = await store.put(key, await textDump('two'));

        expect(second).toMatchObject({ version: 2, created: false });
        expect(second.etag).not.toBe(first.etag);
        expect(await store.head(key)).toMatchObject({ format: 'json', expiresAt: undefined, version: 2 });
        expect(await textOf()).toBe('two');
      });

      test('keys with and without a scope are different keys', async () => {
        const name = key.replace('/', '-');
        for (const storeKey of [name, `/${name}`, `${name}/`, `${name}//`])
          await store.put(storeKey, await textDump(storeKey));

        for (const storeKey of [name, `/${name}`, `${name}/`, `${name}//`])
          expect(await textOf(storeKey)).toBe(storeKey);
      });

      test('a caller who goes on using its buffer does not change what is stored', async () => {
        const data = Buffer.from('"mine"');
        await store.put(key, await packState({ format: 'json', contentType: 'application/json', data }));
        data.fill(0x20);

        expect(await textOf()).toBe('mine');
      });

      test.each([0, 1, 511, 512, 32_767, 32_768, 32_769, 393_215, 393_216, 393_217, 786_432, 1_500_000])(
        '%i incompressible bytes come back as they were',
        async (size) => {
          const data = randomBytesOf(size, `contract ${size}`);
          await store.put(key, await bytesDump(data));

          const snapshot = await store.get(key);
          expect(snapshot).toMatchObject({ bytes: size });
          expect(Buffer.from(await unpackState(snapshot?.dump as Dump)).equals(data)).toBe(true);
        },
      );

      test('a large snapshot that is replaced by a small one, and by a large one, leaves nothing of itself', async () => {
        for (const [size, seed] of [
          [900_000, 'A'],
          [50_000, 'B'],
          [900_000, 'C'],
          [10, 'D'],
        ] as const) {
          const data = randomBytesOf(size, seed);
          await store.put(key, await bytesDump(data));
          const snapshot = await store.get(key);
          expect(Buffer.from(await unpackState(snapshot?.dump as Dump)).equals(data)).toBe(true);
        }
      });
    });

    describe('preconditions', () => {
      test('ifNoneMatch * stores only where nothing is', async () => {
        const { etag } = await store.put(key, await textDump('first'), { ifNoneMatch: '*' });

        const again = store.put(key, await textDump('second'), { ifNoneMatch: '*' });

        await expect(again).rejects.toEqual(new ConflictError(etag));
        expect(await textOf()).toBe('first');
      });

      test('ifMatch stores over that very snapshot only', async () => {
        const { etag } = await store.put(key, await textDump('first'));
        const second = await store.put(key, await textDump('second'), { ifMatch: ['other', etag] });

        const stale = store.put(key, await textDump('stale'), { ifMatch: [etag] });

        await expect(stale).rejects.toEqual(new ConflictError(second.etag));
        expect(await textOf()).toBe('second');
      });

      test('ifMatch, with ETags or *, fails where nothing is stored', async () => {
        await expect(store.put(key, await textDump('x'), { ifMatch: ['e1'] })).rejects.toEqual(
          new ConflictError(undefined),
        );
        await expect(store.put(key, await textDump('x'), { ifMatch: '*' })).rejects.toEqual(
          new ConflictError(undefined),
        );
        await expect(store.delete(key, { ifMatch: ['e1'] })).rejects.toEqual(new ConflictError(undefined));
        expect(await store.get(key)).toBeUndefined();
      });

      test('ifMatch * stores over any snapshot, and ifNoneMatch with ETags over any other', async () => {
        const { etag } = await store.put(key, await textDump('first'), { ifNoneMatch: ['e1'] });
        await store.put(key, await textDump('second'), { ifMatch: '*' });
        const third = await store.put(key, await textDump('third'), { ifNoneMatch: [etag] });

        const refused = store.put(key, await textDump('fourth'), { ifNoneMatch: [etag, third.etag] });

        await expect(refused).rejects.toEqual(new ConflictError(third.etag));
        expect(await textOf()).toBe('third');
      });

      test.each([100, 100_000])('of ten writers with one ETag exactly one wins (%i bytes)', async (size) => {
        const { etag } = await store.put(key, await textDump('start'));
        const dumps = await Promise.all(
          Array.from({ length: 10 }, (_, writer) => bytesDump(randomBytesOf(size, `writer ${writer}`))),
        );

        const outcomes = await Promise.allSettled(
          dumps.map((dump) => store.put(key, dump, { ifMatch: [etag] })),
        );

        const winners = outcomes.flatMap((outcome, writer) =>
          outcome.status === 'fulfilled' ? [writer] : [],
        );
        expect(winners).toHaveLength(1);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ConflictError);
        }
        const stored = await store.get(key);
        const expected = randomBytesOf(size, `writer ${winners[0]}`);
        expect(Buffer.from(await unpackState(stored?.dump as Dump)).equals(expected)).toBe(true);
      });

      test('of two writers that both want to be first one is', async () => {
        const dump = await textDump('x');
        const outcomes = await Promise.allSettled(
          [1, 2].map(() => store.put(key, dump, { ifNoneMatch: '*' })),
        );

        expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      });
    });

    describe('delete', () => {
      test.each([10, 900_000])(
        'a deleted snapshot of %i bytes is gone, and deleting again is fine',
        async (size) => {
          await store.put(key, await bytesDump(randomBytesOf(size, 'gone')));
          await store.delete(key);
          await store.delete(key);

          expect(await store.get(key)).toBeUndefined();
        },
      );

      test.each([10, 900_000])('a stale ifMatch deletes nothing (%i bytes)', async (size) => {
        const { etag } = await store.put(key, await bytesDump(randomBytesOf(size, 'one')));
        const second = await store.put(key, await bytesDump(randomBytesOf(size, 'two')));

        await expect(store.delete(key, { ifMatch: [etag] })).rejects.toEqual(new ConflictError(second.etag));
        expect(await store.head(key)).toMatchObject({ etag: second.etag });
        await store.delete(key, { ifMatch: [second.etag] });
        expect(await store.head(key)).toBeUndefined();
      });

      test('the version starts over after a delete, and the ETag of before is not accepted', async () => {
        const { etag } = await store.put(key, await textDump('before'));
        await store.delete(key);

        await expect(store.put(key, await textDump('late'), { ifMatch: [etag] })).rejects.toThrow(
          ConflictError,
        );
        const again = await store.put(key, await textDump('before'));
        expect(again).toMatchObject({ version: 1, created: true });
        expect(again.etag).not.toBe(etag);
      });
    });

    describe('expiry', () => {
      const inAMinute = () => new Date(clock.now().getTime() + 60_000);

      test.each([10, 900_000])('an expired snapshot of %i bytes is absent in every respect', async (size) => {
        const scope = key.split('/')[0] as string;
        const { etag } = await store.put(key, await bytesDump(randomBytesOf(size, 'old')), {
          expiresAt: inAMinute(),
        });
        clock.advanceSecs(59);
        expect(await store.head(key)).toMatchObject({ etag });

        clock.advanceSecs(2);

        expect(await store.get(key)).toBeUndefined();
        expect(await store.head(key)).toBeUndefined();
        expect((await store.list({ scope, limit: 10 })).items).toEqual([]);
        await expect(store.put(key, await textDump('x'), { ifMatch: [etag] })).rejects.toEqual(
          new ConflictError(undefined),
        );
        await expect(store.put(key, await textDump('x'), { ifMatch: '*' })).rejects.toEqual(
          new ConflictError(undefined),
        );
        await expect(store.delete(key, { ifMatch: [etag] })).rejects.toEqual(new ConflictError(undefined));
        const again = await store.put(key, await textDump('new'), { ifNoneMatch: '*' });
        expect(again).toMatchObject({ version: 1, created: true });
        expect(await textOf()).toBe('new');
      });

      test('overwriting an expired snapshot without a condition is a creation too', async () => {
        await store.put(key, await textDump('old'), { expiresAt: inAMinute() });
        clock.advanceSecs(61);

        expect(await store.put(key, await textDump('new'))).toMatchObject({ version: 1, created: true });
        expect(await textOf()).toBe('new');
      });

      test('overwriting without an expiry removes the one that was there', async () => {
        await store.put(key, await textDump('old'), { expiresAt: inAMinute() });
        await store.put(key, await textDump('kept'));
        clock.advanceSecs(61);

        expect(await textOf()).toBe('kept');
      });
    });

    describe('list', () => {
      const listAll = async (scope: string, limit: number, prefix?: string) => {
        const pages: string[][] = [];
        let after: string | undefined;
        do {
          const page = await store.list({ scope, limit, prefix, after });
          pages.push(page.items.map((item) => item.key));
          after = page.next;
        } while (after !== undefined);
        return pages;
      };

      test('lists each instance of its scope once, and none of a neighbour', async () => {
        const scope = `list-${keys}`;
        const names = ['s1', 's10', 's1/x', 's1#', 'S1', ' s1', 'ä🔑', 's1\n'];
        for (const name of names) await store.put(`${scope}/${name}`, await textDump(name));
        await store.put(`${scope}0/other`, await textDump('other'));
        await store.put(`${scope.slice(0, -1)}/other`, await textDump('other'));

        expect((await listAll(scope, 100)).flat().sort()).toEqual([...names].sort());
        expect((await listAll(scope, 3)).flat().sort()).toEqual([...names].sort());
        expect((await listAll(scope, 1)).flat()).toEqual((await listAll(scope, 100)).flat());
        expect((await listAll(scope, 100, 's1')).flat().sort()).toEqual(['s1', 's1\n', 's1#', 's1/x', 's10']);
      });

      test('a page that is exactly full and the last has no next', async () => {
        const scope = `full-${keys}`;
        for (let index = 0; index < 20; index++) await store.put(`${scope}/k${index}`, await textDump('x'));

        expect((await listAll(scope, 10)).map((page) => page.length)).toEqual([10, 10]);
        expect((await listAll(scope, 20)).map((page) => page.length)).toEqual([20]);
        expect(await listAll('nobody', 5)).toEqual([[]]);
      });

      test('finds the one live snapshot among many that expired', async () => {
        const scope = `expired-${keys}`;
        const expiresAt = new Date(clock.now().getTime() + 1000);
        for (let index = 0; index < 60; index++) {
          await store.put(`${scope}/k${index}`, await textDump('x'), index === 59 ? {} : { expiresAt });
        }
        clock.advanceSecs(2);

        expect(await listAll(scope, 2)).toEqual([['k59']]);
      });
    });
  });
}
