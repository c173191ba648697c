import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { dynamoDbMemoryStore } from '../../../lib/dynamodb/memory/store.ts';
import { dynamoDbSessionStore } from '../../../lib/dynamodb/sessions/session-store.ts';
import {
  type AgentMemory,
  type AgentRuntime,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
} from '../../../lib/index.ts';
import type { EmbeddedTable } from '../../support/embedded-table.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

export const daySecs = 86_400;
export const policy = { ...DEFAULT_RETENTION, name: 'test', rawRetentionSecs: 30 * daySecs };
export const session = 's';

/** Every content bears its name, so often in a large one that each of its chunk rows holds it: it is found wherever it was left. */
export const text = (name: string, size = 1) => `<${name}>`.repeat(size);
export const large = 20;
const contents = [
  ...['small', 'other', 'large', 'b1', 'b2', 'old1', 'old2'],
  ...['data', 'data2', 'fact', 'fact2', 'capsule', 'capsule2'],
];

/** One session, and what its callers were told. */
export interface World {
  readonly clock: TestClock;
  readonly start: number;
  /** Contents whose call has succeeded. */
  readonly accepted: Set<string>;
  /** Contents that were accepted before a call began that has forgotten or replaced them. */
  readonly forgotten: Set<string>;
  /** Contents that a call was told that they are not stored, since another one has their id. */
  readonly refused: Set<string>;
  /** Contents that a call was to remove which may not have come to its end. */
  readonly mayBeGone: Set<string>;
  /** A capsule may hold old messages, and may have been forgotten whole for the sake of one of them. */
  capsuleMade: boolean;
  capsuleForgotten: boolean;
  /** The session is gone: with all that it held. */
  isGone: boolean;
  /** Contents that a reader finds now. */
  readonly readable: () => Promise<ReadonlySet<string>>;
  /** Somebody has learned something: only then is it read, in as many requests as knowledge has partitions. */
  hasLearned: boolean;
  /** Processes that have made a call. No two name anything alike. */
  processes: number;
}

/** @param processes how many have been at work on what is stored already */
export function newWorld(table: EmbeddedTable, processes: number): World {
  const clock = testClock();
  const world: World = {
    ...{ clock, start: clock.now().getTime(), processes, hasLearned: false },
    ...{ accepted: new Set(), forgotten: new Set(), refused: new Set(), mayBeGone: new Set() },
    ...{ capsuleMade: false, capsuleForgotten: false, isGone: false },
    readable: async () => (await readerOf(table, world)).readable,
  };
  return world;
}

/** The runtime of a process of its own. */
export function runtimeOver(client: DynamoDBClient, tableName: string, world: World): AgentRuntime {
  const { clock } = world;
  const process = ++world.processes;
  let etags = 0;
  const memory = dynamoDbMemoryStore({
    ...{ client, tableName, clock: clock.now, newEtag: () => `p${process}e${++etags}` },
    ...{ inlineMaxBytes: 150, chunkMaxBytes: 150 },
  });
  const sessions = dynamoDbSessionStore(client, tableName, clock.now);
  return createRuntime('agent', {
    stores: { ...inMemoryStores(), memory, sessions },
    policy,
    clock: clock.now,
  });
}

export const memoryOf = (runtime: AgentRuntime): AgentMemory => runtime.memory(session, { id: 'ann' });

/**
 * What was forgotten stays forgotten: it is in no row. What was accepted is there, raw or in a capsule, until it is
 * forgotten or replaced. What was refused is not there. No two compactions stand for the same message.
 */
export async function assertLaw(table: EmbeddedTable, world: World, what: string): Promise<void> {
  const { readable, compacted } = await readerOf(table, world);
  const stored = new Set([...readable, ...(await storedIn(table))]);
  if (world.isGone) {
    expect([...stored], `${what}: nothing of a forgotten session is stored`).toEqual([]);
    return;
  }
  const mayBeGone = new Set(world.mayBeGone);
  if (world.capsuleMade && world.capsuleForgotten)
    for (const name of ['old1', 'old2', 'capsule', 'capsule2']) mayBeGone.add(name);
  for (const name of world.forgotten) expect(stored, `${what}: ${name} stays forgotten`).not.toContain(name);
  for (const name of world.refused) expect(stored, `${what}: ${name} was refused`).not.toContain(name);
  for (const name of world.accepted)
    if (!world.forgotten.has(name) && !mayBeGone.has(name))
      expect(readable, `${what}: ${name} is there`).toContain(name);
  expect(compacted, `${what}: no message is in two compactions`).toEqual([...new Set(compacted)]);
}

/** What a reader finds: contents, and which messages compactions stand for. */
export async function readerOf({ client, tableName }: EmbeddedTable, world: World) {
  const memory = memoryOf(runtimeOver(client, tableName, world));
  const [messages, capsules, data, knowledge] = [
    await memory.recent(),
    await memory.listCapsules(),
    await memory.getUserData(),
    world.hasLearned ? await memory.getKnowledge() : {},
  ];
  const texts = [
    ...messages.items.map(({ content }) => content),
    ...capsules.items.map(({ summary }) => summary),
    ...Object.values(data),
    ...Object.values(knowledge),
  ];
  const compactions = capsules.items.filter(({ id }) => id.startsWith('compaction-'));
  return {
    readable: new Set(namesIn(texts.join())),
    compacted: compactions.flatMap(({ messageIds }) => messageIds),
  };
}

function namesIn(found: string): string[] {
  return contents.filter((name) => found.includes(text(name)));
}

/** Contents in any row, whether or not a reader is led to it. None is so large that it is compressed. */
async function storedIn(table: EmbeddedTable): Promise<string[]> {
  const bodies = (await table.rows()).map(({ body }) => Buffer.from(body?.B ?? []).toString());
  return namesIn(bodies.join());
}
