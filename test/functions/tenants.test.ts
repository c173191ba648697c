import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { useServices } from '../../functions/services.ts';
import { tenantBytes, tenantMaxBytes } from '../../functions/tenancy.ts';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';

/** The longest agent name, and a session of 512 bytes of which each is stored as three. */
const name = 'a'.repeat(128);
const session = '~'.repeat(512);
const agent = `/v1/agents/${name}`;
const message = JSON.stringify({ id: 'm', content: 'hello', sender: { id: 'u' } });

/** Every route of an agent, in an order in which each has something to do. */
const calls: readonly [method: string, path: string, status: number, body?: string][] = [
  ['PUT', `${agent}/instances/${'k'.repeat(512)}`, 201, '{}'],
  ['GET', `${agent}/instances/${'k'.repeat(512)}`, 200],
  ['GET', `${agent}/instances`, 200],
  ['PUT', `${agent}/sessions/${session}`, 201, '{}'],
  ['GET', `${agent}/sessions/${session}`, 200],
  ['GET', `${agent}/sessions`, 200],
  ['POST', `${agent}/sessions/${session}/messages`, 201, message],
  ['GET', `${agent}/sessions/${session}/messages`, 200],
  ['POST', `${agent}/sessions/${session}/capsules`, 201, '{"messageIds":["m"],"summary":"s"}'],
  ['GET', `${agent}/sessions/${session}/capsules`, 200],
  ['PUT', `${agent}/sessions/${session}/users/${'u'.repeat(300)}/${'k'.repeat(300)}`, 204, '1'],
  ['GET', `${agent}/sessions/${session}/users/${'u'.repeat(300)}/${'k'.repeat(300)}`, 200],
  ['GET', `${agent}/sessions/${session}/users/${'u'.repeat(300)}`, 200],
  ['DELETE', `${agent}/sessions/${session}/users/${'u'.repeat(300)}/${'k'.repeat(300)}`, 204],
  ['PUT', `${agent}/knowledge/${'k'.repeat(512)}`, 204, '1'],
  ['GET', `${agent}/knowledge/${'k'.repeat(512)}`, 200],
  ['GET', `${agent}/knowledge`, 200],
  ['DELETE', `${agent}/knowledge/${'k'.repeat(512)}`, 204],
  ['GET', `${agent}/sessions/${session}/export`, 200],
  ['GET', `${agent}/errors`, 200],
  ['POST', `${agent}/runs`, 202, JSON.stringify({ action: 'visit' })],
  ['GET', `${agent}/runs`, 200],
  ['GET', `${agent}/runs/20260101T000000000Z-${'0'.repeat(24)}`, 404],
  ['GET', `${agent}/runs/20260101T000000000Z-${'0'.repeat(24)}/jobs`, 404],
  ['DELETE', `${agent}/sessions/${session}`, 204],
  ['DELETE', `${agent}/instances/${'k'.repeat(512)}`, 204],
];

describe('a tenant', () => {
  let database: EmbeddedDynamoDb;

  beforeAll(async () => {
    database = await openEmbeddedDynamoDb(undefined);
    const { client, tableName } = database;
    useServices({
      agents: indexAgents([defineAgent({ name, actions: { visit: () => null } })]),
      ...{ strictAgents: false, tenantClaim: 'org' },
      store: dynamoDbStore({ client, tableName: tableName(snapshotsTable) }),
      stores: dynamoDbStores({
        ...{ client, sessionsTable: tableName(sessionsTable), errorsTable: tableName(errorsTable) },
      }),
      lifecycle: {
        ...dynamoDbRuns({ client, runsTable: tableName(runsTable) }),
        queue: inMemoryRunQueue(),
      },
    });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    capturedLog();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const ofLength = (character: string, bytes: number) =>
    character.repeat(Math.floor(bytes / tenantBytes(character))).padEnd(
      // What is left is filled with a letter, which takes one.
      Math.floor(bytes / tenantBytes(character)) * character.length + (bytes % tenantBytes(character)),
      'x',
    );

  test.each(['t', 'é', '%', '/', '~'])('of %s up to the limit can use every route', async (character) => {
    const org = ofLength(character, tenantMaxBytes);
    expect(tenantBytes(org)).toBe(tenantMaxBytes);

    for (const [method, path, status, body] of calls) {
      const answer = await request(method, path, { claims: { org }, ...(body !== undefined && { body }) });
      expect([method, path, answer.status]).toEqual([method, path, status]);
    }
  });

  test.each(['t', 'é', '%', '/', '~'])(
    'of %s one byte above it is 403 with the limit, on every route',
    async (character) => {
      const org = ofLength(character, tenantMaxBytes + 1);
      expect(tenantBytes(org)).toBe(tenantMaxBytes + 1);

      for (const [method, path, , body] of calls) {
        const answer = await request(method, path, { claims: { org }, ...(body !== undefined && { body }) });
        expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, 'forbidden']);
        expect(answer.body.detail).toContain(`the limit is ${tenantMaxBytes}`);
      }
    },
  );

  test('that UTF-8 cannot tell from another is 403', async () => {
    for (const org of ['\ud800', 'a\udc00', '']) {
      expect(await request('GET', `${agent}/instances`, { claims: { org } })).toMatchObject({
        ...{ status: 403, body: { code: 'forbidden' } },
      });
    }
  });
});
