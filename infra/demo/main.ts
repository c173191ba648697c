import { defineAgent } from 'dormouse';
import { startLocalServer } from '../local/server.ts';
import { demoStates } from './states.ts';
import { formatTable } from './table.ts';
import { meterWrites } from './write-units.ts';

/** An agent whose migration is broken: what it cannot wake up must not be taken for never stored. */
const sleepless = defineAgent({
  name: 'sleepless',
  load: () => {
    throw new Error('this release cannot read version 1');
  },
});

const server = await startLocalServer({ port: 0, agents: [sleepless], quiet: true });
try {
  console.log('Dormouse runs in this process, in memory: real handlers, real storage format, no AWS.\n');
  await showRoundTrips();
  await showConcurrency();
  await showFailingLoad();
  await showForget();
  console.log('\nAll of it held. The next step: npm start, and the curl lines of the README.');
} finally {
  await server.close();
}

async function showRoundTrips(): Promise<void> {
  const meter = meterWrites(server.dynamoDb);
  const rows = [];
  for (const { key, what, contentType, body } of demoStates()) {
    const startedAt = performance.now();
    const saved = await put('demo', key, body, { 'content-type': contentType });
    const savedAt = performance.now();
    const units = meter.take();
    const read = await call('GET', 'demo', key);
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

async function showConcurrency(): Promise<void> {
  const first = await put('demo', 'shared', '{"turn":1}');
  const etag = first.headers.get('etag') ?? '';
  const mine = await put('demo', 'shared', '{"turn":2}', { 'if-match': etag });
  const stale = await put('demo', 'shared', '{"turn":"2, by somebody who has not seen it"}', {
    'if-match': etag,
  });
  const stored = await (await call('GET', 'demo', 'shared')).text();
  assert(mine.status === 200, 'the writer who read the newest state saves');
  assert(
    stale.status === 412 && stored === '{"turn":2}',
    'the stale writer is refused (412), and nothing is lost',
  );
}

async function showFailingLoad(): Promise<void> {
  await put('sleepless', 'agent-1', '{"version":1}');
  const failed = await call('GET', 'sleepless', 'agent-1');
  const { code } = (await failed.json()) as { code: string };
  assert(
    failed.status === 500 && code === 'load_failed',
    'a load that fails is load_failed (500), not "not found"',
  );
  const create = await put('sleepless', 'agent-1', '{}', { 'if-none-match': '*' });
  assert(create.status === 412, 'and a fresh agent cannot take its place by mistake (412)');
}

async function showForget(): Promise<void> {
  const forgotten = await call('DELETE', 'demo', 'shared');
  const gone = await call('GET', 'demo', 'shared');
  assert(forgotten.status === 204 && gone.status === 404, 'a forgotten agent is gone (404)');
}

function put(agent: string, key: string, body: Buffer | string, headers: Record<string, string> = {}) {
  return call('PUT', agent, key, { body, headers: { 'content-type': 'application/json', ...headers } });
}

function call(method: string, agent: string, key: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${server.url}/v1/agents/${agent}/instances/${key}`, { method, ...init });
}

function assert(held: boolean, what: string): void {
  if (!held) throw new Error(`this did not hold: ${what}`);
  console.log(`ok  ${what}`);
}
