import { setTimeout as pause } from 'node:timers/promises';
import { dynamoDbStore } from '../../../lib/dynamodb/dynamodb-store.ts';
import type { PersistenceError } from '../../../lib/errors.ts';
import { forget } from '../../../lib/persistence/forget.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';
import { embeddedTable } from '../../support/embedded-table.ts';
import { leftByTtl } from '../../support/left-by-ttl.ts';
import {
  type Findings,
  letWrite,
  momentCounter,
  paddingOf,
  type Simulation,
  type Writer,
} from '../faulty-writers.ts';
import { type Call, type Condition, isExplained, type Operation, type Outcome } from './history.ts';

interface Seen {
  readonly content: string;
  readonly etag: string;
}

const agent = 'sim';
/** Small ones lie in their head item, the others in up to four rows. */
const sizes = { inlineMaxBytes: 600, chunkMaxBytes: 500 };

/** Writers of the same keys, each with a store and a client of its own, over one DynamoDB that fails as asked. */
export async function simulateSnapshots(simulation: Simulation): Promise<Findings> {
  const database = await embeddedTable();
  const { tableName } = database;
  let offsetMs = 0;
  const clock = () => new Date(Date.now() + offsetMs);
  const moment = momentCounter();
  const histories: Record<string, Operation[]> = {};
  const contentOf = new Map<string, string>();
  const torn: string[] = [];

  const work = async ({ key, index, random, client }: Writer) => {
    const config = { store: dynamoDbStore({ client, tableName, clock, ...sizes }) };
    const history = histories[key] ?? [];
    histories[key] = history;
    let seen: Seen | undefined;

    const noteEtag = (etag: string, content: string) => {
      const known = contentOf.get(etag);
      if (known !== undefined && known !== content)
        torn.push(`${key}: ${etag} is of ${known} and ${content}`);
      contentOf.set(etag, content);
    };
    const failed = (error: PersistenceError): Outcome => {
      if (error.code === 'conflict') return { status: 'conflict' };
      if (error.code !== 'unavailable') torn.push(`${key}: ${error.code}: ${error.message}`);
      return { status: 'unknown' };
    };
    const conditionOf = (): { condition: Condition; options: object } => {
      const chance = random();
      if (seen !== undefined && chance < 0.35)
        return { condition: { is: seen.content }, options: { ifMatch: seen.etag } };
      return { condition: undefined, options: {} };
    };

    for (let number = 0; number < simulation.callsPerWriter; number++) {
      const chance = random();
      const from = moment();
      let call: Call;
      let outcome: Outcome;
      if (chance < 0.45) {
        const content = `${index}-${number}`;
        const creates = random() < 0.25;
        const { condition, options } = creates
          ? { condition: { absent: true } as const, options: { ifNoneMatch: '*' } }
          : conditionOf();
        call = { kind: 'put', content, condition };
        const pad = paddingOf(random, random() < 0.5 ? 10 : 1_500);
        const saved = await hibernate(config, agent, key, { content, pad }, options);
        outcome = saved.status === 'ok' ? { status: 'ok', version: saved.version } : failed(saved.error);
        if (saved.status === 'ok') {
          noteEtag(saved.etag, content);
          seen = { content, etag: saved.etag };
        }
      } else if (chance < 0.62) {
        const { condition, options } = conditionOf();
        call = { kind: 'forget', condition };
        const forgotten = await forget(config, agent, key, options);
        outcome = forgotten.status === 'ok' ? { status: 'ok' } : failed(forgotten.error);
      } else {
        call = { kind: 'get' };
        const found = await thaw<{ content: string }>(config, agent, key);
        if (found.status === 'ok') {
          const { content } = found.agent;
          noteEtag(found.etag, content);
          seen = { content, etag: found.etag };
          outcome = { status: 'found', content, version: found.version };
        } else outcome = found.status === 'not_found' ? found : failed(found.error);
      }
      history.push({ call, outcome, from, to: moment() });
      await pause(random() * 3);
    }
  };

  try {
    const disturbance = await letWrite(simulation, database.requests, work);
    offsetMs += 16 * 60 * 1000;
    const config = { store: dynamoDbStore({ client: database.client, tableName, clock, ...sizes }) };
    for (const key of Object.keys(histories)) {
      for (const done of [await hibernate(config, agent, key, {}), await forget(config, agent, key)])
        if (done.status === 'error') torn.push(`${key}: ${done.error.message}`);
    }
    const left = leftByTtl(await database.rows(), clock());
    const everything = Object.values(histories).flat();
    return {
      ...disturbance,
      calls: everything.length,
      unknown: everything.filter(({ outcome }) => outcome.status === 'unknown').length,
      violations: Object.entries(histories)
        .filter(([, history]) => !isExplained(history))
        .map(([key, history]) => ({ key, law: 'linearizable', history })),
      torn,
      orphans: left.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`),
    };
  } finally {
    await database.close();
  }
}
