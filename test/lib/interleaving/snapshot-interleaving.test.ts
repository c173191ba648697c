import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dynamoDbStore } from '../../../lib/dynamodb/dynamodb-store.ts';
import { snapshotsTable } from '../../../lib/dynamodb/tables.ts';
import { forget, hibernate, type PersistenceFailure, type SnapshotStore, thaw } from '../../../lib/index.ts';
import {
  type Call,
  isExplained,
  type Operation,
  type Outcome,
} from '../../linearizability/snapshots/history.ts';
import { type ReusedTable, reusedTable } from '../../support/embedded-table.ts';
import { leftByTtl } from '../../support/left-by-ttl.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';
import { interleave, type Pair, type Setting } from './interleave.ts';

/*
 * Two calls on one instance. The law: one order of the calls explains what their callers were told and what is read
 * after them (see test/linearizability), each state is read whole, and no row is left for good.
 */
const all = process.env.DORMOUSE_INTERLEAVINGS === 'all';

const [agent, key] = ['agent', 'k'];
/** Small states lie in their head item, large ones in two or three rows. */
const sizes = { inlineMaxBytes: 150, chunkMaxBytes: 120 };

type Rows = readonly Record<string, AttributeValue>[];

interface Beginning {
  readonly rows: Rows;
  readonly history: readonly Operation[];
  /** Of what is stored at the beginning, or was. */
  readonly etag: string;
}

interface World {
  readonly clock: TestClock;
  readonly beginning: Beginning;
  readonly history: Operation[];
  tick: number;
  processes: number;
  /** The store of the process that came first, and where its requests go. */
  shared: { readonly store: SnapshotStore; route: DynamoDBClient } | undefined;
}

interface Act {
  readonly kind: 'put' | 'forget' | 'get';
  readonly size?: 'small' | 'large';
  readonly where?: 'as read' | 'nothing is';
}

const acts: Readonly<Record<string, Act>> = {
  hibernate: { kind: 'put', size: 'small' },
  'hibernate a large state': { kind: 'put', size: 'large' },
  'hibernate over what was read': { kind: 'put', size: 'small', where: 'as read' },
  'hibernate a large state over what was read': { kind: 'put', size: 'large', where: 'as read' },
  'hibernate where nothing is': { kind: 'put', size: 'small', where: 'nothing is' },
  'hibernate a large state where nothing is': { kind: 'put', size: 'large', where: 'nothing is' },
  forget: { kind: 'forget' },
  'forget what was read': { kind: 'forget', where: 'as read' },
  thaw: { kind: 'get' },
};

let table: ReusedTable;
const beginnings: Record<string, Beginning> = {};
beforeAll(async () => {
  table = await reusedTable(snapshotsTable);
  for (const size of ['small', 'large'] as const) {
    await table.reset([]);
    const config = { store: storeOf(table.client, testClock(), 0) };
    const saved = await hibernate(config, agent, key, stateOf('first', size));
    if (saved.status === 'error') throw saved.error;
    const call: Call = { kind: 'put', content: 'first', condition: undefined };
    const history = [{ call, outcome: { status: 'ok', version: 1 } as const, from: -2, to: -1 }];
    beginnings[`a ${size} state`] = { rows: await table.rows(), history, etag: saved.etag };
  }
  beginnings.nothing = { rows: [], history: [], etag: 'none' };
});
afterAll(() => table.close());

function storeOf(client: DynamoDBClient, clock: TestClock, process: number) {
  let etags = 0;
  const newEtag = () => `p${process}e${++etags}`;
  const { tableName } = table;
  return dynamoDbStore({ client, tableName, clock: clock.now, writer: `p${process}`, newEtag, ...sizes });
}

/** Not compressed: each chunk row holds a part of it. */
const stateOf = (content: string, size: 'small' | 'large') => ({
  content,
  pad: size === 'large' ? 'x'.repeat(250) : '',
});

/** @param isShared whether both calls are of one process, with one store, each on a lane of its own */
function settingFrom(beginning: () => Beginning, isShared: boolean): Setting<World> {
  return {
    get client() {
      return table.client;
    },
    async begin() {
      const { rows, history } = beginning();
      await table.reset(rows);
      const counts = { tick: 0, processes: 0, shared: undefined };
      return { clock: testClock(), beginning: beginning(), history: [...history], ...counts };
    },
    call: (name, world, client) => (isShared ? callShared : callAlone)(name, world, client),
    see: (world) => read(world),
    async assertLaw(world, what) {
      const from = ++world.tick;
      const found = await read(world);
      const last = { call: { kind: 'get' } as const, outcome: found, from, to: ++world.tick };
      const history = [...world.history, last];
      expect(isExplained(history), `${what}: some order explains ${JSON.stringify(history)}`).toBe(true);
    },
    async assertEnd(world, what) {
      world.clock.advanceSecs(16 * 60);
      const config = { store: storeOf(table.client, world.clock, ++world.processes) };
      for (const done of [await hibernate(config, agent, key, {}), await forget(config, agent, key)])
        expect(done.status, what).toBe('ok');
      const left = leftByTtl(await table.rows(), world.clock.now());
      expect(
        left.map(({ pk }) => pk?.S),
        `${what}: no row is left for good`,
      ).toEqual([]);
    },
  };
}

function callAlone(name: string, world: World, client: DynamoDBClient): Promise<string> {
  return act(name, world, storeOf(client, world.clock, ++world.processes));
}

async function callShared(name: string, world: World, client: DynamoDBClient): Promise<string> {
  world.shared ??= sharedStore(world, client);
  const { shared } = world;
  const before = shared.route;
  shared.route = client;
  try {
    return await act(name, world, shared.store);
  } finally {
    shared.route = before;
  }
}

function sharedStore(world: World, first: DynamoDBClient): NonNullable<World['shared']> {
  const router = { send: (command: never) => shared.route.send(command) };
  const store = storeOf(router as unknown as DynamoDBClient, world.clock, ++world.processes);
  const shared = { store, route: first };
  return shared;
}

async function act(name: string, world: World, store: SnapshotStore): Promise<string> {
  const { kind, size = 'small', where } = acts[name] as Act;
  const from = ++world.tick;
  const content = `${name} ${from}`;
  const given = where === 'as read' ? { ifMatch: world.beginning.etag } : where && { ifNoneMatch: '*' };
  const condition = where === 'as read' ? { is: 'first' } : where && ({ absent: true } as const);
  const note = (call: Call, outcome: Outcome) => {
    world.history.push({ call, outcome, from, to: ++world.tick });
    return outcome.status === 'unknown' ? 'unavailable' : 'ok';
  };
  if (kind === 'get') return note({ kind }, await readFrom(store));
  const call: Call = kind === 'put' ? { kind, content, condition } : { kind, condition };
  const done: (Outcome & { status: 'ok' }) | PersistenceFailure =
    kind === 'put'
      ? await hibernate({ store }, agent, key, stateOf(content, size), given)
      : await forget({ store }, agent, key, given);
  if (done.status === 'ok') return note(call, done);
  if (done.error.code === 'conflict') return note(call, { status: 'conflict' });
  if (done.error.code === 'unavailable') return note(call, { status: 'unknown' });
  throw done.error;
}

const read = (world: World) => readFrom(storeOf(table.client, world.clock, ++world.processes));

async function readFrom(store: SnapshotStore): Promise<Outcome> {
  const found = await thaw<ReturnType<typeof stateOf>>({ store }, agent, key);
  if (found.status === 'not_found') return found;
  if (found.status === 'ok') return { status: 'found', content: found.agent.content, version: found.version };
  if (found.error.code === 'unavailable') return { status: 'unknown' };
  throw found.error;
}

const names = Object.keys(acts);
const pairs = names.flatMap((first) => names.map((second): Pair => [first, second]));
const some: Pair[] = [
  ['hibernate a large state', 'forget'],
  ['forget what was read', 'hibernate'],
];

describe.each(all ? ['a small state', 'a large state', 'nothing'] : ['a large state'])(
  'of two calls on an instance, the second whole at each request of the first, where there was %s',
  (what) => {
    const beginning = () => beginnings[what] as Beginning;

    test.each(all ? pairs : some)('%s | %s', (...pair) => interleave(settingFrom(beginning, false), pair));
  },
);

describe('of two calls of one process, each on a lane of its own, the second whole at each request of the first', () => {
  test.each(all ? pairs : some)('%s | %s', (...pair) =>
    interleave(
      settingFrom(() => beginnings['a large state'] as Beginning, true),
      pair,
      (how) => how !== 'the last one',
    ),
  );
});
