import { setTimeout as pause } from 'node:timers/promises';
import { runRetentionSecs } from '../../../lib/defaults.ts';
import { dynamoDbRunLeases } from '../../../lib/dynamodb/runs/leases.ts';
import { runsTable } from '../../../lib/dynamodb/tables.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { embeddedTable } from '../../support/embedded-table.ts';
import { leftByTtl } from '../../support/left-by-ttl.ts';
import { type Findings, letWrite, momentCounter, type Simulation, type Writer } from '../faulty-writers.ts';
import { type Interval, isLinearizable, type Model } from '../linearizable.ts';

export interface Held {
  readonly run: string;
  readonly until: number;
}

/** A call on the lease of an action. `told` is who holds it; `unknown`: the caller was told that the call failed. */
export type LeaseCall = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'acquire'; readonly asked: Held; readonly now: number; readonly told: Held | 'unknown' }
  | { readonly kind: 'release'; readonly run: string; readonly told: 'ok' | 'unknown' }
  | { readonly kind: 'holder'; readonly told: Held | undefined }
);

type Step = LeaseCall & Interval;

/**
 * A lease is linearizable, but for requests that come late: a call to take, to prolong or to give it back may take effect
 * once more at any time, on the conditions it had. So a run that has ended may hold its lease again, which whoever wants
 * it then finds out (see `takeLease`); but never do two runs hold it at the same time.
 */
const lease: Model<Step, Held | undefined> = {
  initial: undefined,
  nameOf: (state) => `${state && `${state.run} ${state.until}`}`,
  apply(state, call) {
    if (call.kind === 'release') return [state?.run === call.run ? undefined : state];
    if (call.kind === 'holder') return isSame(state, call.told) ? [state] : [];
    const { asked, now, told } = call;
    if (told !== 'unknown' && !isSame(told, asked)) return isSame(state, told) ? [state] : [];
    const isOwn = state?.run === asked.run && state.until <= asked.until;
    return state === undefined || state.until <= now || isOwn ? [asked] : [];
  },
};

const isSame = (one: Held | undefined, other: Held | undefined) =>
  one?.run === other?.run && one?.until === other?.until;

export function hasOneHolder(calls: readonly LeaseCall[]): boolean {
  const steps = calls.flatMap((call): Step[] => {
    const certain: Step[] = call.told === 'unknown' ? [] : [{ ...call, optional: false }];
    if (call.kind === 'holder') return certain;
    const late: Step = { ...call, told: 'unknown', optional: true };
    return [...certain, late];
  });
  return isLinearizable(steps, lease);
}

const agent = 'sim';
const leaseMs = 300;

/** Runs that take, prolong and give back the leases of the same actions, by one clock. */
export async function simulateLeases(simulation: Simulation): Promise<Findings> {
  const database = await embeddedTable(runsTable);
  const { tableName } = database;
  const moment = momentCounter();
  const start = Date.parse('2027-01-01T00:00:00Z');
  let now = start;
  const clock = () => new Date(now);
  const histories: Record<string, LeaseCall[]> = {};
  const torn: string[] = [];

  const work = async ({ key, index, random, client }: Writer) => {
    const leases = dynamoDbRunLeases({ client, tableName, clock });
    const history = histories[key] ?? [];
    histories[key] = history;
    const attempt = async <T>(call: () => Promise<T>): Promise<{ value: T } | undefined> => {
      try {
        return { value: await call() };
      } catch (error) {
        if (!(error instanceof UnavailableError)) torn.push(`${key}: ${error}`);
        return undefined;
      }
    };
    const acquire = async (run: string): Promise<boolean> => {
      const [from, at] = [moment(), clock()];
      const asked = { run, until: at.getTime() + leaseMs };
      const taken = await attempt(() =>
        leases.acquire(agent, key, { runId: run, until: new Date(asked.until) }, at),
      );
      const told = taken ? heldOf(taken.value) : 'unknown';
      history.push({ kind: 'acquire', asked, now: at.getTime(), told, from, to: moment() });
      return taken?.value.runId === run;
    };
    for (let number = 0; number < simulation.callsPerWriter; number++) {
      const run = `w${index}r${number}`;
      now += 1 + Math.floor(random() * 3);
      let holds = await acquire(run);
      if (holds && random() < 0.5) holds = await acquire(run);
      if (holds && random() < 0.7) {
        const from = moment();
        const done = await attempt(() => leases.release(agent, key, run));
        history.push({ kind: 'release', run, told: done ? 'ok' : 'unknown', from, to: moment() });
      } else {
        const from = moment();
        const found = await attempt(() => leases.holder(agent, key));
        if (found)
          history.push({
            ...{ kind: 'holder', from, to: moment() },
            told: found.value && heldOf(found.value),
          });
      }
      await pause(random() * 3);
    }
  };

  try {
    const disturbance = await letWrite(simulation, database.requests, work);
    const calls = Object.values(histories).flat();
    const left = leftByTtl(await database.rows(), new Date(now + runRetentionSecs * 1000));
    return {
      ...disturbance,
      calls: calls.length,
      unknown: calls.filter(({ told }) => told === 'unknown').length,
      violations: Object.entries(histories)
        .filter(([, history]) => !hasOneHolder(history))
        .map(([key, history]) => ({ key, law: 'two hold the lease at once, or nobody knows why', history })),
      torn,
      orphans: left.map(({ pk, sk }) => `${pk?.S} ${sk?.S}`),
    };
  } finally {
    await database.close();
  }
}

function heldOf({ runId, until }: { runId: string; until: Date }): Held {
  return { run: runId, until: until.getTime() };
}
