import { createHmac } from 'node:crypto';
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { routes } from '../../functions/http/operations.ts';
import { handler as dispatch } from '../../functions/lifecycle/dispatch.ts';
import { handler as work } from '../../functions/lifecycle/work.ts';
import { loggable } from '../../functions/loggable.ts';
import { useServices } from '../../functions/services.ts';
import { scopeOf } from '../../functions/tenancy.ts';
import { type EmbeddedDynamoDb, openEmbeddedDynamoDb } from '../../infra/local/embedded-dynamodb.ts';
import { defineAgent, indexAgents } from '../../lib/agents/define-agent.ts';
import { dynamoDbRuns } from '../../lib/dynamodb/dynamodb-runs.ts';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { dynamoDbStores } from '../../lib/dynamodb/dynamodb-stores.ts';
import { errorsTable, runsTable, sessionsTable, snapshotsTable, tables } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import { failed } from '../../lib/lifecycle/job-outcome.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { lambdaContext, sqsEvent } from '../support/lifecycle-functions.ts';

/** What no line may hold, wherever it was put. */
const canary = 'canary4711';
const word = (where: string) => `${canary}-${where}`;
/** As an error of a callback or a handler may be made: of what it was given, and with lines that look like frames. */
const telling = (where: string) => new Error(`${word(where)}\n    at ${word('frame')} (file.ts:1:2)`);

const outcomes: Record<string, () => unknown> = {
  throws: () => {
    throw telling('thrown');
  },
  parses: () => JSON.parse(word('parsed')),
  says: () => failed(word('failed')),
  object: () => Promise.reject({ message: word('object'), [word('field')]: 1 }),
  stray: () => {
    void Promise.reject(telling('stray'));
  },
  works: () => ({ [word('result-key')]: word('result') }),
};

const agents = [
  defineAgent({
    name: 'plain',
    actions: { act: ({ meta }) => outcomes[String(meta.outcome)]?.() },
    schedules: [scheduleDescriptor('hourly', '@hourly', 'act')],
  }),
  defineAgent({
    name: 'refusing',
    dump: () => {
      throw telling('dump');
    },
  }),
  defineAgent({
    name: 'failing',
    load: () => {
      throw telling('load');
    },
  }),
  defineAgent({
    name: 'checked',
    state: {
      '~standard': {
        ...({ version: 1, vendor: 'test' } as const),
        validate: () => ({ issues: [{ message: word('issue'), path: [word('path')] }] }),
      },
    },
  }),
];

const message = {
  ...{ id: word('message'), content: { [word('content-key')]: word('content') }, source: word('source') },
  ...{ sender: { id: word('sender'), name: word('name') }, metadata: { [word('meta-key')]: word('meta') } },
};

/** Bodies for every route that takes one: right, refused, and refused deep inside. */
const bodies = [
  word('text'),
  `{"${word('property')}":`,
  `{"meta":{"${word('deep')}":1e400}}`,
  JSON.stringify({ [word('property')]: word('value') }),
  JSON.stringify({ meta: { [word('meta')]: word('meta') } }),
  JSON.stringify(message),
  JSON.stringify([message, { ...message, content: word('other') }]),
  JSON.stringify({ ...message, content: word('conflict') }),
  JSON.stringify({ ...message, id: word('late'), timestamp: word('time') }),
  JSON.stringify({ action: word('action') }),
  JSON.stringify({ action: 'act', sessions: [word('session'), word('nobody')] }),
];
const others: readonly [type: string, body: string][] = [
  ['application/vnd.dormouse.rich+json', `[{"${word('rich')}":1},["Map",2,3],"${word('key')}",["Nope",1]]`],
  ['application/vnd.dormouse.rich+json', `[["${word('rich')}",1]]`],
  [`text/${word('type')}`, word('text')],
  [word('type').repeat(20), word('text')],
];

describe('the log', () => {
  let database: EmbeddedDynamoDb;
  let lines: string[];
  const queue = inMemoryRunQueue();
  const claims = { org: word('tenant/%') };

  beforeAll(async () => {
    database = await openEmbeddedDynamoDb(undefined);
    const { client, tableName } = database;
    useServices({
      ...{ agents: indexAgents(agents), strictAgents: false, tenantClaim: 'org' },
      store: dynamoDbStore({ client, tableName: tableName(snapshotsTable) }),
      stores: dynamoDbStores({
        ...{ client, sessionsTable: tableName(sessionsTable), errorsTable: tableName(errorsTable) },
      }),
      lifecycle: { ...dynamoDbRuns({ client, runsTable: tableName(runsTable) }), queue },
    });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    lines = capturedLog();
    for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((...args) => {
        lines.push(JSON.stringify(args.map(String)));
      });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  const leaks = () => lines.filter((line) => line.toLowerCase().includes(canary));

  /** Every route, with names that tell in every place of its path. */
  async function everyRoute(agent: string, parts: Parameters<typeof request>[2] = {}): Promise<number[]> {
    const statuses: number[] = [];
    const takesBody = (method: string) => method === 'PUT' || method === 'POST';
    // Reads first: a write may put right what is damaged.
    for (const { method, path } of routes.toSorted(
      (a, b) => Number(b.method === 'GET') - Number(a.method === 'GET'),
    )) {
      if (parts.body !== undefined && parts.body !== '{}' && !takesBody(method)) continue;
      const target = path.replace('{agent}', agent).replace(/\{(\w+)\+?\}/g, (_, name: string) => word(name));
      const { status = 0 } = await request(method, target, { claims, ...parts });
      statuses.push(status);
    }
    return statuses;
  }

  test.each([
    ...['plain', 'refusing', 'failing', 'checked', 'undefined-one'],
    ...[`no agent: ${word('agent')}`, `${word('agent')}!`],
  ])('has nothing of what callers of %s send, on any route', async (agent) => {
    await everyRoute(agent);
    for (const body of bodies) await everyRoute(agent, { body });
    for (const [type, body] of others) await everyRoute(agent, { body, headers: { 'content-type': type } });

    expect(lines.length).toBeGreaterThan(routes.length);
    expect(leaks()).toEqual([]);
  });

  test('has nothing of headers, queries and claims', async () => {
    for (const name of [
      'if-match',
      'if-none-match',
      'if-unmodified-since',
      'content-range',
      'content-encoding',
    ])
      await everyRoute('plain', { headers: { [name]: word(name), [word('header')]: word('header') } });
    for (const name of [
      'limit',
      'cursor',
      'ttl',
      'prefix',
      'since',
      'hours',
      'order',
      'ok',
      'action',
      word('query'),
    ])
      await everyRoute('plain', { query: { [name]: word('query') } });
    await everyRoute('plain', { claims: { org: word('tenant').repeat(100) } });
    await request('PATCH', `/v1/${word('path')}`);

    expect(leaks()).toEqual([]);
  });

  test('has nothing of sessions, results and failures of a run, however it was started', async () => {
    for (const outcome of Object.keys(outcomes)) {
      const body = JSON.stringify({ meta: { outcome, [word('meta')]: word('meta') } });
      const target = `/v1/agents/plain/sessions/${word(outcome)}`;
      expect((await request('PUT', target, { claims, body })).status).toBe(201);
    }
    const drain = () =>
      queue.drain(async (sent) => {
        await work(sqsEvent([sent]), lambdaContext());
      });

    // Those that other tests have begun.
    await drain();
    const started = await request('POST', '/v1/agents/plain/runs', { claims, body: '{"action":"act"}' });
    await drain();
    await dispatch({ agent: 'plain', action: 'act', schedule: 'hourly', time: '2026-12-01T10:00:00Z' });
    await drain();
    await work(sqsEvent([word('message'), `{"v":1,"runId":"${word('run')}"`]), lambdaContext());
    await dispatch({ agent: 'plain', action: word('action'), schedule: word('schedule') }).catch(() => {});

    const run = await request('GET', `/v1/agents/plain/runs/${started.body.runId}`, { claims });
    expect(run.body).toMatchObject({ status: 'completed', failed: 4 });
    expect(lines.length).toBeGreaterThan(5);
    expect(leaks()).toEqual([]);
  });

  test('has nothing of what is stored, also where it is damaged', async () => {
    await everyRoute('plain', { body: '{}' });
    await request('PUT', `/v1/agents/plain/sessions/${word('session')}`, { claims, body: '{}' });
    await request('POST', `/v1/agents/plain/sessions/${word('session')}/messages`, {
      ...{ claims, body: JSON.stringify({ ...message, id: word('stored') }) },
    });
    await request('PUT', `/v1/agents/plain/instances/${word('key')}`, { claims, body: '{}' });
    await damageEverything(database);
    lines.length = 0;

    const statuses = await everyRoute('plain', { body: '{}' });

    expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(3);
    expect(lines.join()).toContain('"corrupt"');
    await dispatch({ agent: 'plain', action: 'act', schedule: 'hourly', time: '2026-12-01T11:00:00Z' }).catch(
      (error: unknown) => expect(String(error) + String((error as Error).cause)).not.toContain(canary),
    );
    expect(leaks()).toEqual([]);
  });

  test('has the deployment’s own hash of a key, a session and a tenant', async () => {
    vi.stubEnv(environment.logKey, 'arn:aws:cloudformation:eu-central-1:111122223333:stack/dormouse-prod/b7');
    vi.resetModules();
    const { hashOf, loggableScope } = await import('../../functions/log.ts');
    const expected = (name: string) =>
      createHmac('sha256', process.env[environment.logKey] ?? '')
        .update(name)
        .digest('hex')
        .slice(0, 16);

    expect(hashOf('user-1')).toBe(expected('user-1'));
    expect(loggableScope(scopeOf('a/b~c%', 'support'))).toEqual({
      ...{ agent: 'support', tenantHash: expected('a/b~c%') },
    });
  });

  test('has a hash that no other process makes where there is no key', async () => {
    vi.stubEnv(environment.logKey, '');
    const hashes = [];
    for (let process = 0; process < 2; process++) {
      vi.resetModules();
      const { hashOf } = await import('../../functions/log.ts');
      expect(hashOf('user-1')).toBe(hashOf('user-1'));
      hashes.push(hashOf('user-1'));
    }
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});

test('a failure of the process or of AWS says what it was, and where it arose', () => {
  const refused = Object.assign(new Error('not authorized to perform dynamodb:PutItem'), { $metadata: {} });
  refused.name = 'AccessDeniedException';

  expect(loggable(refused)).toMatchObject({
    ...{ code: 'internal', error: [{ name: 'AccessDeniedException', message: refused.message }] },
  });
  expect(loggable(new Error('the environment variable X is not set'))).toMatchObject({
    error: [
      {
        message: 'the environment variable X is not set',
        at: expect.arrayContaining([expect.stringMatching(/^at .*log\.test\.ts/)]),
      },
    ],
  });
});

/** Every attribute that is no key becomes something else, of the same type. */
async function damageEverything({ client, tableName }: EmbeddedDynamoDb): Promise<void> {
  for (const table of tables) {
    const TableName = tableName(table);
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    for (const item of Items) {
      const kept = [table.partitionKey, table.sortKey, table.localIndex?.sortKey];
      const damaged = Object.fromEntries(
        Object.entries(item).map(([name, value]) => [
          name,
          kept.includes(name) ? value : damagedValue(value),
        ]),
      );
      await client.send(new PutItemCommand({ TableName, Item: damaged }));
    }
  }
}

function damagedValue(value: AttributeValue): AttributeValue {
  if (value.S !== undefined) return { S: word('stored') };
  if (value.B !== undefined) return { B: Buffer.from(word('stored')) };
  if (value.M !== undefined)
    return {
      M: Object.fromEntries(Object.entries(value.M).map(([name, inner]) => [name, damagedValue(inner)])),
    };
  return value;
}
