import { setTimeout as pause } from 'node:timers/promises';
import { indexAgents } from '../../../lib/agents/define-agent.ts';
import { runRetentionSecs } from '../../../lib/defaults.ts';
import { dynamoDbRuns } from '../../../lib/dynamodb/dynamodb-runs.ts';
import { runsTable } from '../../../lib/dynamodb/tables.ts';
import { inMemoryRunQueue } from '../../../lib/in-memory/run-queue.ts';
import { inMemoryStores } from '../../../lib/in-memory/stores.ts';
import { type RunEngine, runEngine } from '../../../lib/runs/run-engine.ts';
import { startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { embeddedTable } from '../../support/embedded-table.ts';
import { hardlyAnyTime, jobsOf } from '../../support/engine-under-test.ts';
import { leftByTtl } from '../../support/left-by-ttl.ts';
import { type Findings, letWrite, momentCounter, type Simulation, type Writer } from '../faulty-writers.ts';
import { brokenRunLaws, type RunsHistory, type Visit } from './runs.ts';

const action = 'digest';

interface World {
  readonly key: string;
  readonly engines: { readonly engine: RunEngine; readonly random: () => number }[];
  readonly answers: RunsHistory['answers'][number][];
  readonly visits: Visit[];
  unanswered: number;
}

/**
 * Dispatchers that get the same tick of an action, half of them a second one too, and workers of its shards, each process
 * with a client of its own over one DynamoDB that fails as asked, and one queue that delivers some messages twice. A third tick comes at the end.
 */
export async function simulateRuns(simulation: Simulation): Promise<Findings> {
  const database = await embeddedTable(runsTable);
  const { tableName } = database;
  const moment = momentCounter();
  const start = Date.parse('2027-01-01T00:00:00Z');
  const clock = () => new Date(start + moment());
  const stores = inMemoryStores({ clock });
  const sessions = ['s1', 's2'];
  const worlds = new Map<string, World & ReturnType<typeof worldOf>>();

  const worldOf = (key: string) => {
    const visits: Visit[] = [];
    const handler = async ({ id }: { id: string }, { runId }: { runId: string }) => {
      const from = moment();
      await pause(1);
      visits.push({ runId, session: id, from, to: moment() });
      if (id === 's2') throw new Error('broken');
    };
    const agents = indexAgents([{ name: key, actions: { [action]: handler } }]);
    // Looks at a run come a quarter of an hour later: here never.
    const queue = inMemoryRunQueue({ receiveLimit: 1_000, later: () => {} });
    const engineOver = (client: Writer['client']) =>
      runEngine({
        ...{ agents, stores, queue, clock, retries: { pause: async () => {} } },
        ...dynamoDbRuns({ runsTable: tableName, client, clock }),
      });
    return { key, visits, queue, engineOver, engines: [], answers: [], unanswered: 0 };
  };

  /** As the schedule does it: until it is answered. */
  const deliver = async (world: World, engine: RunEngine, minute: number) => {
    const tick = { schedule: 'nightly', at: new Date(start + minute * 60_000) };
    world.unanswered++;
    for (let delivery = 1; delivery <= 100; delivery++) {
      const request = { agent: world.key, action, tick, sessions };
      const answer = await startRun(engine, request).catch(() => undefined);
      if (answer === undefined) continue;
      world.answers.push({ tick: `tick ${minute}`, answer });
      break;
    }
    world.unanswered--;
  };

  const work = async ({ key, index, random, client }: Writer) => {
    const world = worlds.get(key) ?? worldOf(key);
    worlds.set(key, world);
    const engine = world.engineOver(client);
    const isAtWork = () => world.unanswered > 0 || world.queue.waiting > 0;
    const ticks = [deliver(world, engine, 1)];
    if (index % 2 === 1) ticks.push(pause(index * 5).then(() => deliver(world, engine, 2)));
    const drain = async () => {
      while (isAtWork()) {
        await world.queue.drain(async (message) => {
          if (random() < 0.1) await world.queue.send([message]);
          const remainingMs = random() < 0.8 ? () => 1_000_000 : hardlyAnyTime();
          await workShard(engine, message, { remainingMs });
        });
        await pause(1);
      }
    };
    await Promise.all([...ticks, drain()]);
    await drain();
  };

  try {
    for (let key = 0; key < simulation.keys; key++)
      for (const id of sessions) await stores.sessions.register(`key-${key}`, { id, meta: {}, at: clock() });
    const disturbance = await letWrite(simulation, database.requests, work);
    const violations: Findings['violations'][number][] = [];
    let calls = 0;
    for (const [key, world] of worlds) {
      const engine = world.engineOver(database.client);
      await deliver(world, engine, 3);
      await world.queue.drain((message) => workShard(engine, message));
      const { items } = await engine.runs.list({ agent: key, limit: 100 });
      const runs = [];
      for (const run of items) {
        const { ok, failed } = await jobsOf(engine.runs, run);
        runs.push({ run, jobs: [...ok, ...failed] });
      }
      const history: RunsHistory = {
        ...{ sessions, runs, lastTick: 'tick 3', answers: world.answers, visits: world.visits },
      };
      calls += world.answers.length + world.visits.length;
      for (const law of brokenRunLaws(history)) violations.push({ key, law, history: world.visits });
    }
    const left = leftByTtl(await database.rows(), new Date(clock().getTime() + runRetentionSecs * 1000));
    const orphans = left.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`);
    return { ...disturbance, calls, unknown: 0, violations, torn: [], orphans };
  } finally {
    await database.close();
  }
}
