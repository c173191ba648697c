import { setTimeout as pause } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs, markerSecs } from '../../../lib/defaults.ts';
import { dynamoDbMemoryStore } from '../../../lib/dynamodb/memory/store.ts';
import { dynamoDbSessionStore } from '../../../lib/dynamodb/sessions/session-store.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { createMemory } from '../../../lib/memory/create-memory.ts';
import { KEEP_EVERYTHING } from '../../../lib/memory/retention.ts';
import { embeddedTable } from '../../support/embedded-table.ts';
import { leftByTtl } from '../../support/left-by-ttl.ts';
import { type Findings, letWrite, momentCounter, type Simulation, type Writer } from '../faulty-writers.ts';
import { begin, sourceOf } from './contents.ts';
import { violationsOf } from './laws.ts';
import { memoryWriter, type Recording, type WriterMemory } from './writer.ts';

/** Small records lie in their item, the others in up to three rows. */
const sizes = { inlineMaxBytes: 400, chunkMaxBytes: 500 };
/** Each session has an agent of its own, so that its knowledge is too. */
const agentOf = (key: string) => `sim-${key}`;

/** Writers of the same sessions, each with stores and a client of its own, over one DynamoDB that fails as asked. */
export async function simulateMemory(simulation: Simulation): Promise<Findings> {
  const database = await embeddedTable(sessionsTable);
  const { tableName } = database;
  let offsetMs = 0;
  const clock = () => new Date(Date.now() + offsetMs);
  const moment = momentCounter();
  const recordings: Record<string, Recording> = {};

  const memoryOf = (client: DynamoDBClient, key: string): WriterMemory => {
    let now = begin;
    const stores = {
      memory: dynamoDbMemoryStore({ client, tableName, clock, ...sizes }),
      sessions: dynamoDbSessionStore(client, tableName, clock),
    };
    const memory = createMemory(
      agentOf(key),
      key,
      { id: 'ann' },
      {
        ...{ stores, policy: KEEP_EVERYTHING, clock: () => new Date(now) },
      },
    );
    const setClock = (at: number) => {
      now = at;
    };
    return { memory, setClock };
  };
  const registry = dynamoDbSessionStore(database.client, tableName, clock);
  const keys = Array.from({ length: simulation.keys }, (_, number) => `key-${number}`);

  const work = async ({ key, index, number, random, client }: Writer) => {
    recordings[key] ??= { operations: [], values: {}, torn: [] };
    const isCalm = Math.floor(number / simulation.writers) % 3 === 0;
    const writer = memoryWriter(memoryOf(client, key), { index, random, moment }, recordings[key]);
    for (let call = 0; call < simulation.callsPerWriter; call++) {
      await writer.call(isCalm);
      await pause(random() * 3);
    }
  };

  try {
    for (const id of keys) await registry.register(agentOf(id), { id, meta: {}, at: clock() });
    const disturbance = await letWrite(simulation, database.requests, work);
    for (const [key, recording] of Object.entries(recordings)) {
      const reader = memoryWriter(
        memoryOf(database.client, key),
        { index: simulation.writers, random: () => 0.9, moment },
        recording,
      );
      await reader.read();
      await reader.readValues(true);
      await reader.readValues(false);
    }
    offsetMs += abandonedAfterMs + 60_000;
    for (const key of keys) {
      const { memory } = memoryOf(database.client, key);
      await memory.forgetSession();
      for (const name of Object.keys(await memory.getKnowledge())) await memory.forgetKbKey(name);
      await registry.deregister(agentOf(key), key);
    }
    const left = leftByTtl(await database.rows(), new Date(clock().getTime() + markerSecs * 1000));
    const all = Object.values(recordings);
    const calls = all.flatMap(({ operations, values }) => [...operations, ...Object.values(values).flat()]);
    const isUnknown = (call: (typeof calls)[number]) =>
      call.kind === 'remember'
        ? call.sent.some(({ fate }) => fate === 'unknown')
        : 'fate' in call && call.fate === 'unknown';
    return {
      ...disturbance,
      calls: calls.length,
      unknown: calls.filter(isUnknown).length,
      violations: Object.entries(recordings).flatMap(([key, recording]) =>
        violationsOf(key, recording, sourceOf),
      ),
      torn: all.flatMap(({ torn }) => torn),
      orphans: left.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`),
    };
  } finally {
    await database.close();
  }
}
