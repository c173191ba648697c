import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../lib/dynamodb/dynamodb-store.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { memoryStore } from '../../../lib/in-memory/snapshot-store.ts';
import { unpackState } from '../../../lib/persistence/pack.ts';
import type { SnapshotCatalog } from '../../../lib/persistence/snapshot-store.ts';
import type { StoreOptions } from '../../../lib/persistence/store-options.ts';
import { bytesDump } from '../../contracts/snapshot-store-contract.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import { randomBytesOf, sha256 } from '../../support/random-bytes.ts';
import { testClock } from '../../support/test-clock.ts';

/** Which ETag a caller sends: none, the current one, one it read earlier, one that never was, or `*`. */
const etagChoice = fc.constantFrom('none', 'current', 'stale', 'unknown', 'any');
const operation = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    key: fc.constantFrom('a', 'b'),
    size: fc.constantFrom(0, 1, 900, 1_001, 4_500),
    ifMatch: etagChoice,
    ifNoneMatch: etagChoice,
    ttl: fc.constantFrom(undefined, 10, 100),
  }),
  fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom('a', 'b'), ifMatch: etagChoice }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 9, 11) }),
);

interface Modelled {
  etag: string;
  version: number;
  hash: string;
  expiresAt: number | undefined;
}

const stores: Record<string, (table: EmbeddedTable, options: StoreOptions) => SnapshotCatalog> = {
  memory: (_table, options) => memoryStore(options),
  DynamoDB: ({ client, tableName }, options) =>
    dynamoDbStore({ client, tableName, inlineMaxBytes: 1_000, chunkMaxBytes: 2_000, ...options }),
};

describe('random sequences of operations', () => {
  let table: EmbeddedTable;
  let runs = 0;

  beforeAll(async () => {
    table = await embeddedTable();
  });
  afterAll(() => table.close());

  test.each(Object.keys(stores))('the %s store answers each as a simple model does', async (name) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const clock = testClock();
        const scope = `model-${++runs}`;
        const store = stores[name]?.(table, { clock: clock.now }) as SnapshotCatalog;
        const model = new Map<string, Modelled>();
        const given: string[] = ['never-given'];

        const live = (key: string) => {
          const entry = model.get(key);
          const isLive = entry && (entry.expiresAt === undefined || entry.expiresAt > clock.now().getTime());
          return isLive ? entry : undefined;
        };
        const etagOf = (choice: string, key: string) => {
          if (choice === 'none') return undefined;
          if (choice === 'any') return '*' as const;
          if (choice === 'current') return [live(key)?.etag ?? 'nothing-there'];
          return [choice === 'stale' ? (given.at(-2) ?? 'never-given') : 'never-given'];
        };
        const holds = (etags: '*' | string[] | undefined, key: string, wanted: boolean) => {
          if (etags === undefined) return true;
          const current = live(key)?.etag;
          const isNamed = current !== undefined && (etags === '*' || etags.includes(current));
          return isNamed === wanted;
        };

        for (const [step, op] of operations.entries()) {
          if (op.kind === 'wait') {
            clock.advanceSecs(op.seconds);
          } else {
            const storeKey = `${scope}/${op.key}`;
            const ifMatch = etagOf(op.ifMatch, op.key);
            const ifNoneMatch = op.kind === 'put' ? etagOf(op.ifNoneMatch, op.key) : undefined;
            const allowed = holds(ifMatch, op.key, true) && holds(ifNoneMatch, op.key, false);
            const current = live(op.key);
            if (op.kind === 'put') {
              const data = randomBytesOf(op.size, `${scope} ${step}`);
              const expiresAt =
                op.ttl === undefined ? undefined : new Date(clock.now().getTime() + op.ttl * 1000);
              const put = store.put(storeKey, await bytesDump(data), { ifMatch, ifNoneMatch, expiresAt });
              if (allowed) {
                const receipt = await put;
                expect(receipt).toMatchObject({
                  version: (current?.version ?? 0) + 1,
                  created: current === undefined,
                });
                expect(given).not.toContain(receipt.etag);
                given.push(receipt.etag);
                const { etag, version } = receipt;
                model.set(op.key, { etag, version, hash: sha256(data), expiresAt: expiresAt?.getTime() });
              } else {
                await expect(put).rejects.toEqual(new ConflictError(current?.etag));
              }
            } else {
              const deletion = store.delete(storeKey, { ifMatch });
              if (allowed) {
                await deletion;
                model.delete(op.key);
              } else {
                await expect(deletion).rejects.toEqual(new ConflictError(current?.etag));
              }
            }
          }
          for (const key of ['a', 'b']) {
            const snapshot = await store.get(`${scope}/${key}`);
            const expected = live(key);
            expect(snapshot?.etag).toBe(expected?.etag);
            if (snapshot) expect(sha256(await unpackState(snapshot.dump))).toBe(expected?.hash);
          }
        }
        const { items } = await store.list({ scope, limit: 10 });
        expect(items.map(({ key }) => key).sort()).toEqual(['a', 'b'].filter((key) => live(key)));
      }),
      { numRuns: 40 },
    );
  });
});
