import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Services } from '../../../functions/services.ts';
import { type RunPump, runPump } from '../../../infra/local/run-pump.ts';
import type { AgentDefinition } from '../../../lib/agents/agent-definition.ts';
import { indexAgents } from '../../../lib/agents/define-agent.ts';
import { inMemoryRuns } from '../../../lib/in-memory/runs.ts';
import { memoryStore } from '../../../lib/in-memory/snapshot-store.ts';
import { inMemoryStores } from '../../../lib/in-memory/stores.ts';
import { runEngine } from '../../../lib/runs/run-engine.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { gate } from '../../support/gate.ts';

const pumps: RunPump[] = [];
const printed: string[] = [];
beforeEach(() => {
  capturedLog();
});
afterEach(async () => {
  for (const pump of pumps.splice(0)) await pump.close(0);
  vi.restoreAllMocks();
  printed.length = 0;
});

/** A pump over stores in memory, and an agent with these actions and some sessions. */
async function pumping(actions: AgentDefinition['actions'], sessions = 20) {
  vi.spyOn(console, 'error').mockImplementation((line) => void printed.push(String(line)));
  const pump = runPump({ redeliveryMs: 1 });
  pumps.push(pump);
  const agents = indexAgents([{ name: 'support', ...(actions && { actions }) }]);
  const stores = inMemoryStores();
  const lifecycle = { ...inMemoryRuns(), queue: pump.queue };
  const services = {
    ...{ agents, stores, lifecycle, store: memoryStore() },
    ...{ strictAgents: false, tenantClaim: undefined },
  } satisfies Services;
  for (let index = 0; index < sessions; index++)
    await stores.sessions.register('support', { id: `s${index}`, meta: {}, at: new Date() });
  const start = async (action: string) =>
    (await startRun(runEngine({ agents, stores, ...lifecycle }), { agent: 'support', action })).run;
  const ended = (run: { runId: string; agent: string }) =>
    vi.waitFor(async () => {
      const now = await lifecycle.runs.get(run);
      expect(now?.status).not.toBe('running');
      return now;
    });
  return { pump, services, start, ended };
}

describe('messages', () => {
  it('wait for the start, then are worked on as they come', async () => {
    const { pump, services, start, ended } = await pumping({ digest: () => 'fine', more: () => 'fine' });
    const before = await start('digest');
    expect(pump.queue.waiting).toBe(16);

    pump.start(services);
    const after = await start('more');

    expect(await ended(before)).toMatchObject({ status: 'completed', sessions: 20, ok: 20 });
    expect(await ended(after)).toMatchObject({ status: 'completed', sessions: 20, ok: 20 });
  });

  it('of one run do not wait for those of another', async () => {
    const { promise, open } = gate();
    const { pump, services, start, ended } = await pumping({
      stuck: ({ id }) => (id === 's0' ? promise : null),
      digest: () => 'fine',
    });
    pump.start(services);
    const stuck = await start('stuck');
    const other = await start('digest');

    expect(await ended(other)).toMatchObject({ status: 'completed', ok: 20 });
    expect(await services.lifecycle.runs.get(stuck)).toMatchObject({ status: 'running' });
    open();

    expect(await ended(stuck)).toMatchObject({ status: 'completed', ok: 20 });
  });

  it('that fail come again, and one that fails as often as the queue delivers is a dead letter', async () => {
    const { pump, services, start, ended } = await pumping({ digest: () => 'fine' });
    const { runs } = services.lifecycle;
    const received: number[] = [];
    const commitPage: typeof runs.commitPage = async (shard, before, page) => {
      if (shard.shard === 3 && received.length < 1) {
        received.push(3);
        throw new Error('away for once');
      }
      if (shard.shard === 5) throw new Error('away\nfor good');
      return runs.commitPage(shard, before, page);
    };
    pump.start({ ...services, lifecycle: { ...services.lifecycle, runs: { ...runs, commitPage } } });

    const run = await start('digest');

    expect(await ended(run)).toMatchObject({ status: 'failed', reason: '1 shards could not be finished' });
    await vi.waitFor(() => expect(pump.queue.deadLetters).toHaveLength(1));
    expect(pump.queue.deadLetters).toMatchObject([{ message: { runId: run.runId, shard: 5 } }]);
    expect(printed).toEqual([
      `dormouse: shard 5 of run ${run.runId} of 'support' is given up, a dead letter: away for good`,
    ]);
    expect(received).toEqual([3]);
  });
});

describe('the end', () => {
  it('lets sessions end that were begun, begins no other, and commits', async () => {
    const { promise, open } = gate();
    const begun: string[] = [];
    const digest = async ({ id }: { id: string }) => {
      begun.push(id);
      await promise;
    };
    const { pump, services, start } = await pumping({ digest }, 500);
    pump.start(services);
    const run = await start('digest');
    await vi.waitFor(() => expect(begun).toHaveLength(4 * 10));

    const closed = pump.close(60_000);
    open();
    await closed;

    expect(begun).toHaveLength(40);
    const jobs = await services.lifecycle.runs.listJobs({ agent: 'support', runId: run.runId, limit: 1000 });
    expect(jobs.items.map(({ sessionId }) => sessionId).sort()).toEqual([...begun].sort());
    expect(await services.lifecycle.runs.get(run)).toMatchObject({ status: 'running' });
  });

  it('does not wait for a handler that hangs', async () => {
    let begun = 0;
    const digest = () => {
      begun++;
      return new Promise(() => {});
    };
    const { pump, services, start } = await pumping({ digest });
    pump.start(services);
    const run = await start('digest');
    await vi.waitFor(() => expect(begun).toBeGreaterThan(0));

    await pump.close(1);

    expect(await services.lifecycle.runs.get(run)).toMatchObject({ status: 'running' });
  });
});
