import { randomUUID } from 'node:crypto';
import { GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { StoredRun } from '../../runs/run.ts';
import type { RunRef, RunStore } from '../../runs/run-store.ts';
import { endOf, isOver } from '../../runs/shard-progress.ts';
import { boundedClient } from '../call-budget.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { translatedCall } from '../translated.ts';
import { claimShard, handOver } from './claims.ts';
import { listJobs } from './jobs.ts';
import { listRuns } from './list.ts';
import { commitPage, readProgress } from './pages.ts';
import { amountOf, formatRun, parseRun } from './record.ts';
import { foundRun, onCondition, type RunTable, runKey, runTtl } from './table.ts';

/**
 * Keeps runs in a DynamoDB table. A run is one item; each shard of it has a claim and one item for every page of jobs,
 * so that a page costs one write, of as many kilobytes as its jobs take packed.
 */
export function dynamoDbRunStore(given: RunTable): RunStore {
  const table = { ...given, client: boundedClient(given.client) };
  const { client, tableName } = table;

  const readItem = async (ref: RunRef): Promise<Item | undefined> => {
    const Key = runKey(ref);
    return (await client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;
  };
  const readRun = async (ref: RunRef): Promise<StoredRun | undefined> => {
    const item = await readItem(ref);
    return item && parseRun(ref.agent, item);
  };

  /** The item after the update, or as it is where the condition does not hold. */
  const update = (
    ref: RunRef,
    expression: string,
    condition: string,
    parts: ExpressionParts,
  ): Promise<Item> =>
    onCondition(
      async () => {
        const { Attributes } = await client.send(
          new UpdateItemCommand({
            TableName: tableName,
            Key: runKey(ref),
            UpdateExpression: expression,
            ConditionExpression: condition,
            ReturnValues: 'ALL_NEW',
            ...parts.attributes,
          }),
        );
        return Attributes ?? {};
      },
      async () => foundRun(await readItem(ref), ref),
    );

  const create: RunStore['create'] = async (run) => {
    // Tells this call's own record, where the answer was lost, from one that another call has made.
    const creator = randomUUID();
    const Item = { ...formatRun(run, runTtl(table)), creator: { S: creator } };
    return onCondition<{ run: StoredRun; created: boolean }>(
      async () => {
        const isNew = 'attribute_not_exists(pk)';
        await client.send(new PutItemCommand({ TableName: tableName, Item, ConditionExpression: isNew }));
        return { run: parseRun(run.agent, Item), created: true };
      },
      async () => {
        const there = foundRun(await readItem(run), run);
        return { run: parseRun(run.agent, there), created: there.creator?.S === creator };
      },
    );
  };

  const end: RunStore['end'] = async (ref, { status, reason, at }) => {
    const parts = new ExpressionParts();
    const set = [
      `runStatus = ${parts.value({ S: status })}`,
      `finishedAt = ${parts.value({ N: String(at.getTime()) })}`,
      ...(reason === undefined ? [] : [`reason = ${parts.value({ S: reason })}`]),
    ];
    const remove = status === 'skipped' ? ' REMOVE pending' : '';
    const notAdmitted = status === 'skipped' ? ' AND attribute_not_exists(admitted)' : '';
    const condition = stillRunning(parts) + notAdmitted;
    return parseRun(ref.agent, await update(ref, `SET ${set.join(', ')}${remove}`, condition, parts));
  };

  const admit = async (ref: RunRef): Promise<StoredRun> => {
    const parts = new ExpressionParts();
    const set = `SET admitted = ${parts.value({ BOOL: true })}`;
    return parseRun(ref.agent, await update(ref, set, stillRunning(parts), parts));
  };

  const finishShard: RunStore['finishShard'] = async (ref, { ok, failed, unrecorded, done }, at) => {
    const parts = new ExpressionParts();
    const shard = String(ref.shard);
    const add = Object.entries({ okJobs: ok, failedJobs: failed, unrecorded, abandoned: done ? 0 : 1 }).map(
      ([name, amount]) => `${name} ${parts.value({ N: String(amount) })}`,
    );
    const remove = `DELETE pending ${parts.value({ NS: [shard] })}`;
    const notYetAdded = `contains(pending, ${parts.value({ N: shard })})`;
    const item = await update(ref, `ADD ${add.join(', ')} ${remove}`, notYetAdded, parts);
    const run = parseRun(ref.agent, item);
    if (!isOver(run)) return run;
    const faults = { unrecorded: amountOf(item, 'unrecorded'), abandoned: amountOf(item, 'abandoned') };
    return end(ref, { ...endOf(faults), at });
  };

  const markDispatched = async (ref: RunRef): Promise<void> => {
    const parts = new ExpressionParts();
    const set = `SET dispatched = ${parts.value({ BOOL: true })}`;
    await update(ref, set, 'attribute_exists(pk)', parts);
  };

  return {
    create: (run) => translatedCall(() => create(run)),
    get: (ref) => translatedCall(() => readRun(ref)),
    list: (query) => translatedCall(() => listRuns(table, query)),
    admit: (ref) => translatedCall(() => admit(ref)),
    markDispatched: (ref) => translatedCall(() => markDispatched(ref)),
    end: (ref, how) => translatedCall(() => end(ref, how)),
    claimShard: (shard, claim) => translatedCall(() => claimShard(table, shard, claim)),
    handOver: (shard, claim) => translatedCall(() => handOver(table, shard, claim)),
    progress: (shard) => translatedCall(() => readProgress(table, shard)),
    commitPage: (shard, before, page) => translatedCall(() => commitPage(table, shard, before, page)),
    finishShard: (shard, progress, at) => translatedCall(() => finishShard(shard, progress, at)),
    listJobs: (query) => translatedCall(() => listJobs(table, query)),
  };
}

function stillRunning(parts: ExpressionParts): string {
  return `runStatus = ${parts.value({ S: 'running' })}`;
}
