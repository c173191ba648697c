import {
  type Capsule,
  compactMemory,
  defineAgent,
  type LifecycleJob,
  type Message,
  orThrow,
  scheduleDescriptor,
} from 'dormouse';
import { assert, type DemoClient } from './demo-client.ts';
import { formatTable } from './table.ts';

interface Desk {
  readonly mood: string;
  readonly wakes: number;
}

/** A help desk: conversations are compacted after a week, and messages pruned after a month. */
export const desk = defineAgent({
  name: 'desk',
  retention: {
    name: 'a-month',
    rawRetentionSecs: 2_592_000,
    compactAfterSecs: 604_800,
    capsuleRetentionSecs: null,
    exportAllowed: true,
    forgetAllowed: true,
    metadata: {},
  },
  actions: {
    'compact-stale-sessions': (session, { memory, signal }) => {
      if (session.id === 'chat-3') throw new Error('the model refused this conversation');
      return compactMemory(
        memory(),
        ({ messages }) => `${messages.length} messages about ${session.meta.topic}`,
        {
          signal,
        },
      );
    },
    // Each session has an instance of the agent: it is thawed, changed, and saved over exactly what was read.
    'wake-agents': async (session, { instance }) => {
      const { agent, version } = orThrow(
        await instance().update((asleep: Desk | undefined) => ({
          mood: 'rested',
          wakes: (asleep?.wakes ?? 0) + 1,
        })),
      );
      return { woken: session.id, wakes: agent?.wakes, version };
    },
  },
  schedules: [
    scheduleDescriptor('nightly-compaction', '0 2 * * *', 'compact-stale-sessions'),
    scheduleDescriptor('hourly-pruning', '@hourly', 'prune-raw-memory'),
    scheduleDescriptor('payday', '0 9 1,15 * MON', 'compact-stale-sessions', { timezone: 'Europe/Paris' }),
  ],
});

interface List<T> {
  readonly items: readonly T[];
}

interface ShownRun {
  readonly runId: string;
  readonly status: string;
  readonly sessions: number;
  readonly ok: number;
  readonly failed: number;
}

const agent = '/v1/agents/desk';
const tick = '2026-12-01T02:00:00Z';

/** The second half: sessions are registered and remembered, and jobs run over all of them on schedule. */
export async function showLifecycle(client: DemoClient): Promise<void> {
  console.log('\nConversations, and the jobs that run over all of them on schedule:\n');
  await converse(client);
  await showSchedules(client);
  await showCompaction(client);
  await showErrors(client);
  await showWaking(client);
  await showCapsule(client);
  await showPruning(client);
}

const topics = ['a parcel', 'an invoice', 'a broken lamp', 'a refund', 'opening hours'];

/** What is older than a month by now would be refused: these become so in a moment. */
const almostAMonth = 30 - 1.5 / 86_400;

/** Five conversations. Of each, messages of a month ago, of 10 days ago, and of now. */
async function converse(client: DemoClient): Promise<void> {
  for (const [index, topic] of topics.entries()) {
    const session = `${agent}/sessions/chat-${index + 1}`;
    await client.send('PUT', session, { meta: { topic } });
    const ages = [almostAMonth, almostAMonth, 10, 10, 10, 0].slice(index % 2);
    await client.send(
      'POST',
      `${session}/messages`,
      ages.map((days, place) => ({
        id: `m${place + 1}`,
        content: `Message ${place + 1} about ${topic}`,
        sender: { id: place % 2 === 0 ? 'ann' : 'desk' },
        timestamp: Date.now() - days * 86_400_000,
      })),
    );
  }
  const { items } = await client.send<List<unknown>>('GET', `${agent}/sessions`);
  assert(
    items.length === topics.length,
    `${items.length} sessions are registered, and their messages remembered`,
  );
  await client.until<List<Message>>(
    `${agent}/sessions/chat-${topics.length}/messages`,
    (messages) => messages.items.length === 4,
  );
}

async function showSchedules(client: DemoClient): Promise<void> {
  interface Schedule {
    readonly name: string;
    readonly expressions: readonly string[];
    readonly description: string;
    readonly next: readonly string[];
  }
  const { items } = await client.send<List<Schedule>>('GET', '/v1/schedules');
  const rows = items.flatMap(({ name, expressions, description, next }) =>
    expressions.map((expression, index) =>
      index === 0 ? [name, expression, description, next[0] ?? ''] : ['', expression, '', ''],
    ),
  );
  console.log(`\n${formatTable(['schedule', 'for EventBridge', 'reads', 'next'], rows)}\n`);
}

async function showCompaction(client: DemoClient): Promise<void> {
  await fire(client, 'nightly-compaction');
  await fire(client, 'nightly-compaction');
  const path = `${agent}/runs?action=compact-stale-sessions`;
  const { items } = await client.until<List<ShownRun>>(path, (runs) => runs.items[0]?.status === 'completed');
  const [run] = items;
  assert(items.length === 1, 'a tick that is delivered twice starts one run');
  assert(
    run?.sessions === 5 && run.ok === 4 && run.failed === 1,
    'one session fails, and the others have their turn: 5 sessions, 4 ok, 1 failed',
  );
  const jobs = await client.send<List<LifecycleJob>>('GET', `${agent}/runs/${run?.runId}/jobs`);
  const rows = jobs.items.map(({ sessionId, ok, result, error }) => [
    ...[sessionId, ok ? 'ok' : 'failed'],
    error === null ? JSON.stringify(result) : `${error.kind}: ${error.reason}`,
  ]);
  console.log(`\n${formatTable(['session', 'job', 'result or error'], rows.sort())}\n`);
}

async function showWaking(client: DemoClient): Promise<void> {
  const instanceOf = (topic: number) => `${agent}/instances/chat-${topic + 1}`;
  for (const topic of topics.keys())
    await client.send('PUT', instanceOf(topic), { mood: 'waiting', wakes: topic });
  const { runId } = await client.send<ShownRun>('POST', `${agent}/runs`, { action: 'wake-agents' });
  const run = await client.until<ShownRun>(`${agent}/runs/${runId}`, ({ status }) => status !== 'running');
  const woken = await Promise.all(
    [...topics.keys()].map((topic) => client.send<Desk>('GET', instanceOf(topic))),
  );
  assert(
    run.ok === topics.length &&
      woken.every(({ mood, wakes }, topic) => mood === 'rested' && wakes === topic + 1),
    `an action woke ${run.ok} agents, changed each and saved it:`,
  );
  console.log(`    before {"mood":"waiting","wakes":0}, after ${JSON.stringify(woken[0])}\n`);
}

async function showErrors(client: DemoClient): Promise<void> {
  const { items } = await client.send<List<{ sessionId: string; where: string; msg: string; ts: string }>>(
    'GET',
    `${agent}/errors`,
  );
  const [error] = items;
  assert(items.length === 1 && error?.sessionId === 'chat-3', 'the error log has the failed one:');
  console.log(`    ${error?.ts}  ${error?.where}  ${error?.sessionId}  ${error?.msg}`);
}

async function showCapsule(client: DemoClient): Promise<void> {
  const session = `${agent}/sessions/chat-1`;
  const capsules = await client.send<List<Capsule>>('GET', `${session}/capsules`);
  const messages = await client.send<List<Message>>('GET', `${session}/messages`);
  const [capsule] = capsules.items;
  assert(
    capsule?.messageIds.join() === 'm3,m4,m5' && messages.items.map(({ id }) => id).join() === 'm6',
    'a capsule stands for the messages that were due, and the newer one is still there raw:',
  );
  console.log(`    "${capsule?.summary}", made of ${capsule?.messageIds.join(', ')}`);
}

async function showPruning(client: DemoClient): Promise<void> {
  await fire(client, 'hourly-pruning');
  const path = `${agent}/runs?action=prune-raw-memory`;
  const { items } = await client.until<List<ShownRun>>(path, (runs) => runs.items[0]?.status === 'completed');
  const jobs = await client.send<List<LifecycleJob>>('GET', `${agent}/runs/${items[0]?.runId}/jobs`);
  const removed = jobs.items.reduce((sum, { result }) => sum + Number(result), 0);
  assert(removed === 8, `pruning removed the ${removed} messages that were older than a month, and no other`);
}

/** Not to wait for two in the morning. */
async function fire(client: DemoClient, schedule: string): Promise<void> {
  await client.send('POST', `/_local/schedules/${schedule}/fire?time=${tick}`);
}
