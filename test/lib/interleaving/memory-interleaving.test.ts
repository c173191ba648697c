import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { type ReusedTable, reusedTable } from '../../support/embedded-table.ts';
import type { Interruption } from '../../support/pausing-client.ts';
import { interleave, type Pair, type Setting } from './interleave.ts';
import { isOfKnowledge, isRemoval, memoryCalls, memoryPairs } from './memory-calls.ts';
import {
  assertLaw,
  daySecs,
  large,
  memoryOf,
  newWorld,
  readerOf,
  runtimeOver,
  session,
  text,
  type World,
} from './memory-world.ts';

const all = process.env.DORMOUSE_INTERLEAVINGS === 'all';

let table: ReusedTable;
let rows: readonly Record<string, AttributeValue>[];
beforeAll(async () => {
  table = await reusedTable(sessionsTable);
  rows = await rowsOfBeginning();
});
afterAll(() => table.close());

const setting: Setting<World> = {
  get client() {
    return table.client;
  },
  async begin() {
    await table.reset(rows);
    const world = newWorld(table, 1);
    world.clock.advanceSecs(8 * daySecs);
    for (const name of ['old1', 'old2']) world.accepted.add(name);
    return world;
  },
  /** What fails has accepted nothing, and forgotten nothing for certain. */
  async call(name, world, client) {
    const runtime = runtimeOver(client, table.tableName, world);
    try {
      await memoryCalls[name]?.(runtime, world);
      return 'ok';
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (typeof code !== 'string') throw error;
      return code;
    }
  },
  see: (world) => readerOf(table, world),
  assertLaw: (world, what) => assertLaw(table, world, what),
};

/** A session with two messages that are due for compaction. */
async function rowsOfBeginning() {
  const runtime = runtimeOver(table.client, table.tableName, newWorld(table, 0));
  await runtime.registerSession(session);
  await memoryOf(runtime).remember([
    { id: 'old1', content: text('old1'), source: 'doc' },
    { id: 'old2', content: text('old2', large) },
  ]);
  return table.rows();
}

const some: Pair[] = [
  ['remember a large message', 'forget the session'],
  ['compact', 'forget by source'],
  ['set user data', 'forget user data'],
];

/**
 * A lost answer is a death without a retry: it is tried with what removes. Knowledge has no clock: see the limits in
 * docs/decisions/0002-session-memory.md.
 */
function isMeant(how: Interruption, [first, second]: Pair): boolean {
  if (how === 'answer lost') return isRemoval(second) && !isRemoval(first);
  return how !== 'delivered twice' || !isOfKnowledge(first);
}

describe('of two calls on memory, the second whole at each request of the first', () => {
  test.each(all ? memoryPairs : some)('%s | %s', async (...pair) => {
    await interleave(setting, pair, isMeant);
  });
});
