import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { useServices } from '../../functions/services.ts';
import { formatTable } from '../../infra/demo/table.ts';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { callAttempts, callMaxMs, memoryConcurrency, requestMinMs } from '../../lib/defaults.ts';
import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import { median } from '../bench/measure.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { faults, faultyClient } from '../support/faulty-dynamodb.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** `all`: every rate, often enough for a table, which is printed; else the worst one, a few times. */
const isAll = process.env.DORMOUSE_ATTEMPTS === 'all';
const rates = isAll ? [0.08, 0.15, 0.3, 1] : [0.3];

const agent = '/v1/agents/support';
const session = `${agent}/sessions/s`;
const messages = JSON.stringify(
  Array.from({ length: 20 }, (_, index) => ({ id: `m${index}`, content: index, sender: { id: 'ann' } })),
);
const large = Buffer.from(Array.from({ length: 900_000 }, (_, index) => (index * index) % 251)).toString(
  'base64',
);
type Asked = readonly [method: string, path: string, body?: string, base64?: boolean];
const operations: Readonly<Record<string, Asked>> = {
  'hibernate, small': ['PUT', `${agent}/instances/k`, '{"mood":"calm"}'],
  'hibernate, three rows': ['PUT', '/v1/agents/opaque/instances/k', large, true],
  thaw: ['GET', `${agent}/instances/k`],
  'thaw, three rows': ['GET', '/v1/agents/opaque/instances/k'],
  'list instances': ['GET', `${agent}/instances`],
  'register a session': ['PUT', session, '{"meta":{}}'],
  'get a session': ['GET', session],
  'list sessions': ['GET', `${agent}/sessions`],
  'remember 20 messages': ['POST', `${session}/messages`, messages],
  recent: ['GET', `${session}/messages`],
  capsules: ['GET', `${session}/capsules`],
  export: ['GET', `${session}/export`],
  'forget messages': ['DELETE', `${session}/messages?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z`],
  'deregister, with memory': ['DELETE', `${session}?memory=forget`],
  'start a run': ['POST', `${agent}/runs`, '{"action":"prune-raw-memory"}'],
  'list runs': ['GET', `${agent}/runs`],
  'list errors': ['GET', `${agent}/errors`],
  forget: ['DELETE', `${agent}/instances/k`],
  'forget, three rows': ['DELETE', '/v1/agents/opaque/instances/k'],
};

describe('a call over a DynamoDB that fails', () => {
  let database: EmbeddedDynamoDb;
  beforeAll(async () => {
    capturedLog();
    database = await openEmbeddedDynamoDb(undefined);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await database.close();
  });

  /** Has the functions use a client that fails, which counts what it sends. */
  const overFaults = (rate: number, seed: number) => {
    const random = seededRandom(seed);
    let [sent, failed] = [0, 0];
    const { client, settled } = faultyClient(database.requests, () => {
      sent++;
      if (random() >= rate) return undefined;
      failed++;
      return faults[Math.floor(random() * faults.length)];
    });
    const name = database.tableName;
    useServices({
      agents: indexAgents([defineAgent({ name: 'support' })]),
      ...{ strictAgents: false, tenantClaim: undefined },
      store: dynamoDbStore({ client, tableName: name(snapshotsTable) }),
      stores: dynamoDbStores({ client, sessionsTable: name(sessionsTable), errorsTable: name(errorsTable) }),
      lifecycle: { ...dynamoDbRuns({ client, runsTable: name(runsTable) }), queue: inMemoryRunQueue() },
    });
    return { counted: () => ({ sent, failed }), settled };
  };

  test.each(rates)(
    'makes a bounded number of attempts, ends in time, and is then 503 or 429 with Retry-After: %d of requests fail',
    async (rate) => {
      const seen = new Map<string, { sent: number; ms: number; unavailable: boolean }[]>();
      let seed = 0;
      const rounds = isAll ? (rate < 1 ? 12 : 2) : 1;
      for (let round = 0; round < rounds; round++) {
        for (const [name, [method, path, body, base64 = false]] of Object.entries(operations)) {
          const [rawPath = path, query] = path.split('?');
          const headers = base64 ? { 'content-type': 'image/png' } : {};
          const parts = { ...(query && { query: Object.fromEntries(new URLSearchParams(query)) }), headers };
          // Of its own: what the SDK allows a client in repetitions has not been used up by others.
          const { counted, settled } = overFaults(rate, ++seed);
          const startedAt = performance.now();
          const answer = await request(method, rawPath, { ...parts, ...(body && { body }), base64 });
          const ms = performance.now() - startedAt;
          const { sent, failed } = counted();
          await settled();

          // Each answer makes up for four failures; what is under way when the limit is reached comes to its end.
          const inFlight = memoryConcurrency * 4;
          expect.soft(failed, name).toBeLessThanOrEqual(callAttempts + 4 * (sent - failed) + inFlight);
          expect.soft(ms, name).toBeLessThan(callMaxMs + requestMinMs);
          const isUnavailable = answer.status === 503 || answer.status === 429;
          if (isUnavailable) {
            expect.soft(Number(answer.headers?.['retry-after']), name).toBeGreaterThan(0);
          }
          expect
            .soft([200, 201, 202, 204, 404, 429, 503], `${name}: ${answer.status}`)
            .toContain(answer.status);
          const of = seen.get(name) ?? [];
          seen.set(name, [...of, { sent, ms, unavailable: isUnavailable }]);
        }
      }
      if (!isAll) return;
      const rows = [...seen].map(([name, calls]) => {
        const attempts = calls.map(({ sent }) => sent);
        const times = calls.map(({ ms }) => ms);
        const unavailable = calls.filter((call) => call.unavailable).length;
        return [
          name,
          median(attempts),
          Math.max(...attempts),
          median(times),
          Math.max(...times),
          unavailable,
        ];
      });
      const columns = ['operation', 'attempts', 'most', 'ms', 'longest', `429 or 503 of ${rounds}`];
      console.log(`${rate * 100} % of requests fail\n${formatTable(columns, rows)}`);
    },
    600_000,
  );
});
