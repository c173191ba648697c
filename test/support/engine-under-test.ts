import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../lib/agents/define-agent.ts';
import { type InMemoryRunQueue, inMemoryRunQueue } from '../../lib/in-memory/run-queue.ts';
import { inMemoryRuns } from '../../lib/in-memory/runs.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import type { StoredRun } from '../../lib/runs/run.ts';
import { type RunEngine, type RunEngineOptions, runEngine } from '../../lib/runs/run-engine.ts';
import type { RunStore } from '../../lib/runs/run-store.ts';
import { type WorkOptions, workShard } from '../../lib/runs/work-shard.ts';
import { type TestClock, testClock } from './test-clock.ts';

export interface EngineUnderTest {
  readonly engine: RunEngine;
  readonly queue: InMemoryRunQueue;
  readonly clock: TestClock;
  /** Everything that was logged, as `level message`. */
  readonly logged: readonly string[];
  register(count: number, prefix?: string): Promise<string[]>;
  /** Works until the queue is empty. */
  work(options?: WorkOptions, concurrency?: number): Promise<void>;
  jobsOf(run: StoredRun): ReturnType<typeof jobsOf>;
}

/** An engine in memory, for the one agent `support`. */
export function engineUnderTest(
  definition: Omit<AgentDefinition, 'name'>,
  options: Partial<RunEngineOptions> = {},
): EngineUnderTest {
  const clock = testClock();
  const queue = inMemoryRunQueue({ receiveLimit: 50 });
  const logged: string[] = [];
  const log = (level: string) => (message: string) => void logged.push(`${level} ${message}`);
  let ids = 0;
  const engine = runEngine({
    agents: indexAgents([{ name: 'support', ...definition }]),
    stores: inMemoryStores({ clock: clock.now }),
    ...inMemoryRuns(),
    queue,
    clock: clock.now,
    newId: () => `id-${++ids}`,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    ...options,
    retries: { pause: async () => {}, ...options.retries },
  });

  return {
    ...{ engine, queue, clock, logged },
    async register(count, prefix = 's') {
      const sessions = Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
      for (const id of sessions)
        await engine.stores.sessions.register('support', { id, meta: {}, at: clock.now() });
      return sessions;
    },
    work: (workOptions, concurrency) =>
      queue.drain((message) => workShard(engine, message, workOptions), concurrency),
    jobsOf: (run) => jobsOf(engine.runs, run),
  };
}

/** The ids of the sessions that a run has a job for, by outcome. */
export async function jobsOf(runs: RunStore, { agent, runId }: StoredRun) {
  const found = { ok: [] as string[], failed: [] as string[] };
  let after: string | undefined;
  do {
    const page = await runs.listJobs({ agent, runId, limit: 1000, after });
    for (const { ok, sessionId } of page.items) found[ok ? 'ok' : 'failed'].push(sessionId);
    after = page.next;
  } while (after !== undefined);
  return { ok: found.ok.sort(), failed: found.failed.sort() };
}

/** The time of a worker that has enough for one session. One for each message. */
export function hardlyAnyTime(): () => number {
  let asked = 0;
  return () => (asked++ === 0 ? 10_000 : 0);
}
