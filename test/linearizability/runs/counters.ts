import { setTimeout as pause } from 'node:timers/promises';
import { dynamoDbCounters } from '../../../lib/dynamodb/sessions/counters.ts';
import { sessionsTable } from '../../../lib/dynamodb/tables.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { embeddedTable } from '../../support/embedded-table.ts';
import { type Findings, letWrite, momentCounter, type Simulation, type Writer } from '../faulty-writers.ts';
import { isLinearizable, type Model } from '../linearizable.ts';

/** A call on a counter; the sum that it was told, or undefined where it was told that it failed. */
export interface CounterCall {
  readonly kind: 'bump' | 'get';
  readonly by: number;
  readonly sum: number | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * A counter is a linearizable fetch-and-add: each addition counts once, and is told the sum that it came to. One that was
 * told that it failed counts once or not at all.
 */
const counter: Model<CounterCall, number> = {
  initial: 0,
  nameOf: String,
  apply: (state, { by, sum }) => (sum === undefined || sum === state + by ? [state + by] : []),
};

export function isExact(calls: readonly CounterCall[]): boolean {
  const steps = calls.map((call) => ({ ...call, optional: call.sum === undefined }));
  return isLinearizable(steps, counter);
}

/** Writers that add to the same counters and read them. */
export async function simulateCounters(simulation: Simulation): Promise<Findings> {
  const database = await embeddedTable(sessionsTable);
  const { tableName } = database;
  const moment = momentCounter();
  const histories: Record<string, CounterCall[]> = {};
  const torn: string[] = [];

  const work = async ({ key, random, client }: Writer) => {
    const counters = dynamoDbCounters(client, tableName);
    histories[key] ??= [];
    for (let number = 0; number < simulation.callsPerWriter; number++) {
      const kind = random() < 0.75 ? 'bump' : 'get';
      const by = kind === 'get' ? 0 : 1 + Math.floor(random() * 3);
      const from = moment();
      const call = kind === 'bump' ? counters.bump('sim', key, by) : counters.get('sim', key);
      const sum = await call.catch((error: unknown) => {
        if (!(error instanceof UnavailableError)) torn.push(`${key}: ${error}`);
        return undefined;
      });
      if (kind === 'bump' || sum !== undefined) histories[key]?.push({ kind, by, sum, from, to: moment() });
      await pause(random() * 3);
    }
  };

  try {
    const disturbance = await letWrite(simulation, database.requests, work);
    const reader = dynamoDbCounters(database.client, tableName);
    for (const [key, history] of Object.entries(histories))
      history.push({
        ...{ kind: 'get', by: 0, from: moment() },
        ...{ sum: await reader.get('sim', key), to: moment() },
      });
    const calls = Object.values(histories).flat();
    return {
      ...disturbance,
      calls: calls.length,
      unknown: calls.filter(({ sum }) => sum === undefined).length,
      violations: Object.entries(histories)
        .filter(([, history]) => !isExact(history))
        .map(([key, history]) => ({ key, law: 'additions are lost or count twice', history })),
      torn,
      // A counter stays: one item each.
      orphans: (await database.rows()).slice(simulation.keys).map(({ pk }) => `${pk?.S}`),
    };
  } finally {
    await database.close();
  }
}
