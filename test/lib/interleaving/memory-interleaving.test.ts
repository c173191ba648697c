import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dynamoDbMemoryStore } from '../../../lib/dynamodb/memory-store.ts';
import { dynamoDbSessionStore } from '../../../lib/dynamodb/session-store.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import {
  type AgentRuntime,
  compactMemory,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
  pruneRawMemory,
} from '../../../lib/index.ts';
import { type EmbeddedTable, embeddedTable } from '../../support/embedded-table.ts';
import { isWrite } from '../../support/failing-client.ts';
import { interruptedClient } from '../../support/pausing-client.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

/*
 * Every pair of operations on one session's memory, the second one run whole at every write of the first. The law:
 * what was forgotten stays forgotten, and what was accepted and not forgotten is raw or in a capsule.
 * Here a part of the pairs; all of them, and every kind of interruption, where DORMOUSE_INTERLEAVINGS is `all`.
 */
const all = process.env.DORMOUSE_INTERLEAVINGS === 'all';

const daySecs = 86_400;
const policy = { ...DEFAULT_RETENTION, name: 'test', rawRetentionSecs: 30 * daySecs };
/** Every content bears its name, so that it is found wherever it was left. */
const text = (name: string, size = 1) => `<${name}>`.repeat(size);
const large = 20;

let table: EmbeddedTable;
let sessions = 0;
// One for each pair: every row of it is read again and again.
beforeEach(async () => {
  table = await embeddedTable(sessionsTable);
});
afterEach(() => table.close());

interface World {
  readonly session: string;
  readonly clock: TestClock;
  readonly start: number;
  /** Names of contents whose call was acknowledged, and those that a call forgot which began after that. */
  readonly accepted: Set<string>;
  readonly forgotten: Set<string>;
  /** Names of contents that may have gone with a capsule that was forgotten, or with age. */
  readonly mayBeGone: Set<string>;
  /** The session is gone: with all that it held when the call ended. */
  isGone: boolean;
}

type Operation = (runtime: AgentRuntime, world: World) => Promise<unknown>;

const accept = async (world: World, names: readonly string[], call: () => Promise<unknown>) => {
  await call();
  for (const name of names) world.accepted.add(name);
};
const forgetting = async (world: World, names: readonly string[], call: () => Promise<unknown>) => {
  const before = names.filter((name) => world.accepted.has(name));
  // A capsule stands for other messages too, and goes whole.
  for (const name of ['old1', 'old2']) world.mayBeGone.add(name);
  await call();
  for (const name of before) world.forgotten.add(name);
};
const memoryOf = (runtime: AgentRuntime, { session }: World) => runtime.memory(session, { id: 'ann' });

const operations: Readonly<Record<string, Operation>> = {
  'remember a small message': (runtime, world) =>
    accept(world, ['small'], () =>
      memoryOf(runtime, world).remember({ id: 'small', content: text('small') }),
    ),
  'remember a large message': (runtime, world) =>
    accept(world, ['large'], () =>
      memoryOf(runtime, world).remember({ id: 'large', content: text('large', large) }),
    ),
  'remember a batch': (runtime, world) =>
    accept(world, ['b1', 'b2'], () =>
      memoryOf(runtime, world).remember(['b1', 'b2'].map((id) => ({ id, content: text(id) }))),
    ),
  compact: (runtime, world) =>
    compactMemory(memoryOf(runtime, world), ({ messages }) => messages.map(({ content }) => content).join()),
  'store a capsule': async (runtime, world) => {
    const memory = memoryOf(runtime, world);
    const { items } = await memory.recent();
    if (items.length === 0) return;
    const summary = `${text('capsule')}${items.map(({ content }) => content).join()}`;
    await memory.storeCapsule({ ...memory.capsuleFromWindow(items, summary), id: 'own' });
  },
  'set user data': (runtime, world) =>
    accept(world, ['data'], () => memoryOf(runtime, world).setUserData('key', text('data'))),
  'forget the session': async (runtime, world) => {
    await runtime.forgetSession(world.session);
    world.isGone = true;
  },
  'forget a range': (runtime, world) =>
    forgetting(world, ['old1', 'old2'], () =>
      memoryOf(runtime, world).forgetMessages(
        { from: world.start, to: world.start + 5_000 },
        { capsules: 'forget' },
      ),
    ),
  'forget by source': (runtime, world) =>
    forgetting(world, ['old1'], () => memoryOf(runtime, world).forgetBySourceId('doc')),
  'forget where': async (runtime, world) => {
    // What is compacted already has no content for a predicate.
    const { items } = await memoryOf(runtime, world).recent();
    const raw = items.some(({ id }) => id === 'old2') ? ['old2'] : [];
    let deleted = 0;
    await forgetting(world, [], async () => {
      const where = ({ id }: { id: string }) => id === 'old2';
      ({ deleted } = await memoryOf(runtime, world).forgetMessages({ where }, { capsules: 'forget' }));
    });
    if (deleted > 0) for (const name of raw) world.forgotten.add(name);
  },
  deregister: (runtime, world) => runtime.deregisterSession(world.session),
  prune: (runtime, world) => {
    for (const name of ['old1', 'old2']) world.mayBeGone.add(name);
    return pruneRawMemory(memoryOf(runtime, world), { ...policy, rawRetentionSecs: 7 * daySecs });
  },
};

const removals = ['forget the session', 'forget a range', 'forget by source', 'forget where'];
const others = ['compact', 'deregister', 'prune'];
const names = Object.keys(operations);
/** Two calls that only store, each something of its own, are parted by what each stores. */
const pairs = names
  .flatMap((first) => names.map((second) => [first, second] as const))
  .filter((pair) => pair.some((name) => removals.includes(name) || others.includes(name)));
/** What is forgotten while a request is on its way twice, or nobody knows what became of it. */
const uncertain = pairs.filter(([first, second]) => !removals.includes(first) && removals.includes(second));
const some = pairs.filter(
  ([first, second]) =>
    (second === 'forget the session' &&
      ['remember a large message', 'compact', 'set user data'].includes(first)) ||
    (first === 'compact' && second === 'forget by source') ||
    (first === 'forget the session' && second === 'remember a small message'),
);

describe.each([
  ['paused', all ? pairs : some],
  ...(all
    ? ([
        ['delivered twice', uncertain],
        ['answer lost', uncertain],
      ] as const)
    : []),
] as const)('a write that is %s', (how, chosen) => {
  test.each(chosen)('%s, and at each of its writes: %s', async (first, second) => {
    for (let at = 0, wasReached = true; wasReached; at++) {
      const world = await begin();
      const other = () => perform(second, world, table.client);
      const interrupted = interruptedClient(table.client, at, how, other, isWrite);

      await perform(first, world, interrupted.client);

      wasReached = interrupted.wasReached();
      await assertLaw(world, `${first} | ${second} at ${at}`);
    }
  });
});

function runtimeOver(client: DynamoDBClient, { clock }: World): AgentRuntime {
  const { tableName } = table;
  const memory = dynamoDbMemoryStore({
    ...{ client, tableName, clock: clock.now },
    ...{ inlineMaxBytes: 150, chunkMaxBytes: 150 },
  });
  const stores = {
    ...inMemoryStores(),
    memory,
    sessions: dynamoDbSessionStore(client, tableName, clock.now),
  };
  return createRuntime('agent', { stores, policy, clock: clock.now });
}

/** A session with two messages that are due for compaction. */
async function begin(): Promise<World> {
  const clock = testClock();
  const start = clock.now().getTime();
  const world: World = {
    ...{ session: `s${++sessions}`, clock, start, isGone: false },
    ...{ accepted: new Set<string>(), forgotten: new Set<string>(), mayBeGone: new Set<string>() },
  };
  const runtime = runtimeOver(table.client, world);
  await runtime.registerSession(world.session);
  await accept(world, ['old1', 'old2'], () =>
    memoryOf(runtime, world).remember([
      { id: 'old1', content: text('old1'), source: 'doc' },
      { id: 'old2', content: text('old2', large) },
    ]),
  );
  clock.advanceSecs(8 * daySecs);
  return world;
}

/** A call that fails has accepted nothing, and forgotten nothing for certain. */
async function perform(name: string, world: World, client: DynamoDBClient): Promise<void> {
  await operations[name]?.(runtimeOver(client, world), world).catch((error: { code?: string }) => {
    if (typeof error.code !== 'string') throw error;
  });
}

async function assertLaw(world: World, what: string): Promise<void> {
  const found = await contentsOf(world);
  if (world.isGone) {
    expect([...found.everywhere], `${what}: nothing of a forgotten session is stored`).toEqual([]);
    return;
  }
  for (const name of world.forgotten)
    expect(found.everywhere, `${what}: ${name} stays forgotten`).not.toContain(name);
  for (const name of world.accepted)
    if (!world.forgotten.has(name) && !world.mayBeGone.has(name))
      expect(found.readable, `${what}: ${name} is there`).toContain(name);
}

/** Which contents a reader finds, and which are in any row of the table. */
async function contentsOf(world: World) {
  const runtime = runtimeOver(table.client, world);
  const memory = memoryOf(runtime, world);
  const [messages, capsules, data] = [
    await memory.recent(),
    await memory.listCapsules(),
    await memory.getUserData(),
  ];
  const texts = [
    ...messages.items.map(({ content }) => content),
    ...capsules.items.map(({ summary }) => summary),
    ...Object.values(data),
  ];
  const contents = ['small', 'large', 'b1', 'b2', 'old1', 'old2', 'data', 'capsule'];
  const readable = new Set(contents.filter((name) => texts.some((one) => String(one).includes(`<${name}>`))));
  return { readable, everywhere: new Set([...readable, ...(await storedNames(world))]) };
}

/** Rows that hold data: of the session's partition, and chunk rows that were written for it. */
async function storedNames({ session }: World): Promise<string[]> {
  const rows = (await table.rows()).filter(
    ({ pk, owner }) =>
      pk?.S === `memory/agent~${session}` || owner?.S?.startsWith(`memory/agent~${session}/`),
  );
  return rows
    .filter(({ body }) => body !== undefined)
    .map(({ sk, owner }) => (owner?.S ?? sk?.S ?? '').split('/').at(-1) ?? '');
}
