import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../lib/dynamodb/memory/store.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { createMemory, DEFAULT_RETENTION, inMemoryStores, type NewMessage } from '../../../lib/index.ts';
import type { MemoryStore } from '../../../lib/memory/memory-store.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import { clientWithFate, isWrite, sdkError } from '../../support/failing-client.ts';
import { testClock } from '../../support/test-clock.ts';

type Step =
  | {
      readonly kind: 'remember';
      readonly batch: readonly NewMessage[];
      readonly dieAt: number;
      readonly retries: number;
    }
  | { readonly kind: 'forget'; readonly from: number; readonly to: number };

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const times = fc.option(fc.constantFrom(-1, 9, 10, 99, 100, 1_798_761_600_250), { nil: undefined });
/** A third of the messages are too large for their item. */
const contentOf = (id: string) => (id < 'd' ? `${id} `.repeat(200) : id);
const message = fc.record({ id: ids, timestamp: times }).map(({ id, timestamp }) => ({
  ...{ id, content: contentOf(id) },
  ...(timestamp !== undefined && { timestamp }),
}));
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('remember' as const),
        batch: fc.uniqueArray(message, { selector: ({ id }) => id, minLength: 1, maxLength: 5 }),
        dieAt: fc.integer({ min: 1, max: 20 }),
        retries: fc.integer({ min: 0, max: 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('forget' as const),
        from: fc.constantFrom(-5, 9, 10),
        to: fc.constantFrom(10, 99, 2e12),
      }),
    },
  ),
  { minLength: 1, maxLength: 8 },
);

interface Known {
  readonly id: string;
  readonly at: number;
  readonly arrival: number;
}

/** What memory must hold: each message once, where its request first put it. */
class Model {
  readonly #messages = new Map<string, Known>();
  readonly #requests = new Map<string, { at: number; arrival: number }>();
  #arrivals = 0;
  #forgets = 0;

  remember(batch: readonly NewMessage[], now: number): void {
    // A request of several messages that comes again has its first place, unless something was forgotten since.
    const name = [this.#forgets, ...batch.map(({ id }) => id)].join();
    const known = batch.length > 1 ? this.#requests.get(name) : undefined;
    this.#arrivals += 100;
    const origin = known ?? { at: now, arrival: this.#arrivals };
    this.#requests.set(name, origin);
    batch.forEach(({ id = '', timestamp }, index) => {
      if (this.#messages.has(id)) return;
      this.#messages.set(id, { id, at: Number(timestamp ?? origin.at), arrival: origin.arrival + index });
    });
  }

  forget(from: number, to: number): number {
    this.#forgets++;
    const inRange = [...this.#messages.values()].filter(({ at }) => at >= from && at <= to);
    for (const { id } of inRange) this.#messages.delete(id);
    return inRange.length;
  }

  ids(): string[] {
    const known = [...this.#messages.values()];
    return known.sort((x, y) => x.at - y.at || x.arrival - y.arrival).map(({ id }) => id);
  }
}

let sessions = 0;

/** Runs the steps on a memory and on the model; `storeDyingAt` gives a store whose process dies at its n-th write. */
async function agreesWithModel(
  given: readonly Step[],
  open: (clock: () => Date) => { healthy: MemoryStore; storeDyingAt(write: number): MemoryStore },
) {
  const clock = testClock();
  const { healthy, storeDyingAt } = open(clock.now);
  const session = `s${++sessions}`;
  const policy = { ...DEFAULT_RETENTION, rawRetentionSecs: null };
  const memoryOver = (store: MemoryStore) =>
    createMemory('agent', session, { id: 'ann' }, { stores: { memory: store }, clock: clock.now, policy });
  const memory = memoryOver(healthy);
  const model = new Model();
  for (const step of given) {
    if (step.kind === 'forget') {
      expect(await memory.forgetSessionRange(step.from, step.to)).toBe(model.forget(step.from, step.to));
    } else {
      await memoryOver(storeDyingAt(step.dieAt))
        .remember(step.batch)
        .catch(() => {});
      for (let retry = 0; retry <= step.retries; retry++) await memory.remember(step.batch);
      model.remember(step.batch, clock.now().getTime());
    }
    clock.advanceSecs(1);
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await memory.recent({ limit: 3, after });
      for (const { id, content } of page.items) {
        seen.push(id);
        expect(content).toBe(contentOf(id));
      }
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(model.ids());
    const backwards = (await memory.recent({ order: 'desc' })).items.map(({ id }) => id);
    expect(backwards.reverse()).toEqual(seen);
  }
}

test('in memory: whatever batches come, and come again, each message is there once and in its place', async () => {
  const property = fc.asyncProperty(steps, (given) =>
    agreesWithModel(given, (clock) => {
      const { memory } = inMemoryStores({ clock });
      return { healthy: memory, storeDyingAt: () => memory };
    }),
  );

  await fc.assert(property, { numRuns: 200 });
});

let table: EmbeddedTable;
beforeAll(async () => {
  table = await embeddedTable(sessionsTable);
});
afterAll(() => table.close());

test('in DynamoDB: likewise, although a process dies at any write of any of them', async () => {
  const property = fc.asyncProperty(steps, fc.boolean(), (given, applied) =>
    agreesWithModel(given, (clock) => {
      const storeOver = (client: EmbeddedTable['client']) =>
        dynamoDbMemoryStore({
          ...{ client, tableName: table.tableName, clock },
          ...{ inlineMaxBytes: 200, chunkMaxBytes: 200 },
        });
      const storeDyingAt = (write: number) => {
        let seen = 0;
        const { client } = clientWithFate(table.client, (_index, command) => {
          if (isWrite(command)) seen++;
          if (seen < write) return 'pass';
          return { applied: applied && seen === write && isWrite(command), error: sdkError('TimeoutError') };
        });
        return storeOver(client);
      };
      return { healthy: storeOver(table.client), storeDyingAt };
    }),
  );

  await fc.assert(property, { numRuns: 10 });
});
