import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../../errors.ts';
import type { Overlap, RunStatus, RunTrigger, StoredRun } from '../../runs/run.ts';
import type { NewRun } from '../../runs/run-store.ts';
import { endTime } from '../../runs/shard-progress.ts';
import type { Item } from '../item.ts';
import { actionRunKey, runKey, runSortKey } from './table.ts';

const itemVersion = '1';

/** The item of a run that begins. Its names are none of DynamoDB's reserved words. */
export function formatRun(run: NewRun, ttl: AttributeValue): Item {
  const { runId, action, trigger, schedule, startedAt, overlap, only, pending } = run;
  return {
    ...runKey(run),
    v: { N: itemVersion },
    actionRun: { S: actionRunKey(action, runId) },
    actionName: { S: action },
    startedBy: { S: trigger },
    ...(schedule !== undefined && { scheduleName: { S: schedule } }),
    runStatus: { S: 'running' },
    startedAt: { N: String(startedAt.getTime()) },
    onOverlap: { S: overlap },
    ...(only && { onlySessions: { L: only.map((id) => ({ S: id })) } }),
    pending: { NS: pending.map(String) },
    ttl,
  };
}

export function parseRun(agent: string, item: Item): StoredRun {
  const { v, sk, actionName, scheduleName, reason, startedAt, finishedAt, onlySessions, dispatched } = item;
  const prefix = runSortKey('');
  if (v?.N !== itemVersion || !sk?.S?.startsWith(prefix) || actionName?.S === undefined)
    throw new CorruptError('the run item is not one of ours');
  return {
    runId: sk.S.slice(prefix.length),
    agent,
    action: actionName.S,
    trigger: oneOf<RunTrigger>(item, 'startedBy', ['schedule', 'request']),
    ...(scheduleName?.S !== undefined && { schedule: scheduleName.S }),
    status: oneOf<RunStatus>(item, 'runStatus', ['running', 'completed', 'failed', 'skipped']),
    ...(reason?.S !== undefined && { reason: reason.S }),
    startedAt: timeOf(startedAt),
    ...(finishedAt && { finishedAt: endTime(timeOf(startedAt), timeOf(finishedAt)) }),
    sessions: amountOf(item, 'okJobs') + amountOf(item, 'failedJobs'),
    ok: amountOf(item, 'okJobs'),
    failed: amountOf(item, 'failedJobs'),
    overlap: oneOf<Overlap>(item, 'onOverlap', ['skip', 'allow']),
    ...(onlySessions?.L && { only: onlySessions.L.map(({ S = '' }) => S) }),
    dispatched: dispatched?.BOOL === true,
    pending: (item.pending?.NS ?? []).map(Number).sort((a, b) => a - b),
  };
}

/** A number that is 0 until something is added to it. */
export function amountOf(item: Item, name: string): number {
  const amount = Number(item[name]?.N ?? 0);
  if (!Number.isSafeInteger(amount)) throw new CorruptError(`the run item holds no number as ${name}`);
  return amount;
}

function timeOf(value: AttributeValue | undefined): Date {
  const time = new Date(Number(value?.N ?? Number.NaN));
  if (Number.isNaN(time.getTime())) throw new CorruptError('the run item holds no time');
  return time;
}

function oneOf<T extends string>(item: Item, name: string, allowed: readonly T[]): T {
  const known = allowed.find((one) => one === item[name]?.S);
  if (known === undefined) throw new CorruptError(`the run item has an unknown ${name}`);
  return known;
}
