import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { defineAgent } from 'dormouse';
import { assert, type DemoClient } from './demo-client.ts';
import { demoStates } from './states.ts';
import { formatTable } from './table.ts';
import { meterWrites } from './write-units.ts';

/** An agent whose migration is broken: what it cannot wake up must not be taken for never stored. */
export const sleepless = defineAgent({
  name: 'sleepless',
  load: () => {
    throw new Error('this release cannot read version 1');
  },
});

/** The first half: states go to sleep and wake up. */
export async function showHibernation(client: DemoClient, dynamoDb: DynamoDBClient): Promise<void> {
  await showRoundTrips(client, dynamoDb);
  await showConcurrency(client);
  await showFailingLoad(client);
  await showForget(client);
}

async function showRoundTrips(client: DemoClient, dynamoDb: DynamoDBClient): Promise<void> {
  const meter = meterWrites(dynamoDb);
  const rows = [];
  for (const { key, what, contentType, body } of demoStates()) {
    const startedAt = performance.now();
    const saved = await put(client, 'demo', key, body, { 'content-type': contentType });
    const savedAt = performance.now();
    const units = meter.take();
    const read = await client.call('GET', pathOf('demo', key));
    const woken = Buffer.from(await read.arrayBuffer());
    const readAt = performance.now();

    const { storedBytes } = (await saved.json()) as { storedBytes: number };
    assert(read.status === 200 && woken.equals(body), `${what} came back byte for byte`);
    assert(read.headers.get('content-type') === contentType, `${what} kept its content type`);
    rows.push([what, body.length, storedBytes, units, savedAt - startedAt, readAt - savedAt, 'identical']);
  }
  const columns = ['state', 'bytes', 'stored bytes', 'write units', 'hibernate ms', 'thaw ms', 'thawed'];
  console.log(`${formatTable(columns, rows)}\n`);
}

async function showConcurrency(client: DemoClient): Promise<void> {
  const first = await put(client, 'demo', 'shared', '{"turn":1}');
  const etag = first.headers.get('etag') ?? '';
  const mine = await put(client, 'demo', 'shared', '{"turn":2}', { 'if-match': etag });
  const stale = await put(client, 'demo', 'shared', '{"turn":"2, by somebody who has not seen it"}', {
    'if-match': etag,
  });
  const stored = await (await client.call('GET', pathOf('demo', 'shared'))).text();
  assert(mine.status === 200, 'the writer who read the newest state saves');
  assert(
    stale.status === 412 && stored === '{"turn":2}',
    'the stale writer is refused (412), and nothing is lost',
  );
}

async function showFailingLoad(client: DemoClient): Promise<void> {
  await put(client, 'sleepless', 'agent-1', '{"version":1}');
  const failed = await client.call('GET', pathOf('sleepless', 'agent-1'));
  const { code } = (await failed.json()) as { code: string };
  assert(
    failed.status === 500 && code === 'load_failed',
    'a load that fails is load_failed (500), not "not found"',
  );
  const create = await put(client, 'sleepless', 'agent-1', '{}', { 'if-none-match': '*' });
  assert(create.status === 412, 'and a fresh agent cannot take its place by mistake (412)');
}

async function showForget(client: DemoClient): Promise<void> {
  const forgotten = await client.call('DELETE', pathOf('demo', 'shared'));
  const gone = await client.call('GET', pathOf('demo', 'shared'));
  assert(forgotten.status === 204 && gone.status === 404, 'a forgotten agent is gone (404)');
}

function put(
  client: DemoClient,
  agent: string,
  key: string,
  body: Buffer | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return client.call('PUT', pathOf(agent, key), {
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function pathOf(agent: string, key: string): string {
  return `/v1/agents/${agent}/instances/${key}`;
}
