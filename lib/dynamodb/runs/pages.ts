import { GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { CorruptError } from '../../errors.ts';
import type { LifecycleJob } from '../../lifecycle/lifecycle-job.ts';
import { decodeState, encodeState } from '../../persistence/codec.ts';
import { packState, unpackState } from '../../persistence/pack.ts';
import type { ShardPage, ShardProgress, ShardRef } from '../../runs/run-store.ts';
import { noProgress, progressAfter } from '../../runs/shard-progress.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { formatInfo, parseInfo } from '../snapshots/head.ts';
import { amountOf } from './record.ts';
import { onCondition, pagePrefix, pageSortKey, type RunTable, runTtl, shardKey } from './table.ts';

const itemVersion = '1';

/*
 * A page is one item: the jobs, packed, and where the shard is after them. It is written once, under the number that
 * follows the last one's, so that jobs, cursor and totals cannot come apart, and no two workers commit the same page.
 */

/** Where the last page leaves the shard. */
export async function readProgress(table: RunTable, shard: ShardRef): Promise<ShardProgress> {
  const page = await lastPage(table, shard);
  return page === undefined ? noProgress : parseProgress(page);
}

export async function commitPage(
  table: RunTable,
  shard: ShardRef,
  before: ShardProgress,
  page: ShardPage,
): Promise<ShardProgress | undefined> {
  const progress = progressAfter(before, page);
  const dump = await packState(encodeState(page.jobs));
  const { cursor, done, ok, failed, unrecorded } = progress;
  const item: Item = {
    ...checkedKey(shardKey(shard), pageSortKey(before.pages)),
    v: { N: itemVersion },
    writer: { S: page.writer },
    ...(cursor !== undefined && { lastSession: { S: cursor } }),
    done: { BOOL: done },
    okJobs: { N: String(ok) },
    failedJobs: { N: String(failed) },
    unrecorded: { N: String(unrecorded) },
    okHere: { N: String(ok - before.ok) },
    failedHere: { N: String(failed - before.failed) },
    info: formatInfo(dump, table.clock(), undefined),
    body: { B: dump.data },
    ttl: runTtl(table),
  };
  const notCommitted = 'attribute_not_exists(pk)';
  return onCondition<ShardProgress | undefined>(
    async () => {
      await table.client.send(
        new PutItemCommand({ TableName: table.tableName, Item: item, ConditionExpression: notCommitted }),
      );
      return progress;
    },
    // The answer to an earlier try may have been lost. It is this page that tells, not the last one: others may follow.
    async () => {
      const Key = checkedKey(shardKey(shard), pageSortKey(before.pages));
      const { Item: there } = await table.client.send(
        new GetItemCommand({
          ...{ TableName: table.tableName, Key, ConsistentRead: true },
          ProjectionExpression: 'writer',
        }),
      );
      return there?.writer?.S === page.writer ? progress : undefined;
    },
  );
}

/** The jobs of a page item. */
export async function parseJobs(item: Item): Promise<readonly LifecycleJob[]> {
  const { format, contentType, encoding, bytes } = parseInfo(item.info?.M ?? {});
  const [data, checksum] = [item.body?.B, item.info?.M?.checksum?.B];
  if (data === undefined || checksum === undefined) throw new CorruptError('the page of jobs has no data');
  const dump = { format, contentType, encoding, bytes, checksum, data };
  const jobs = decodeState(format, await unpackState(dump));
  if (!Array.isArray(jobs)) throw new CorruptError('the page of jobs holds no list');
  return jobs as readonly LifecycleJob[];
}

async function lastPage({ client, tableName }: RunTable, shard: ShardRef): Promise<Item | undefined> {
  const parts = new ExpressionParts();
  const inShard = `pk = ${parts.value({ S: shardKey(shard) })}`;
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: `${inShard} AND begins_with(sk, ${parts.value({ S: pagePrefix })})`,
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: 1,
      ...parts.attributes,
    }),
  );
  return Items[0];
}

function parseProgress(item: Item): ShardProgress {
  const { v, sk, done, lastSession } = item;
  const page = Number(sk?.S?.slice(pagePrefix.length) ?? Number.NaN);
  if (v?.N !== itemVersion || !Number.isSafeInteger(page) || done?.BOOL === undefined)
    throw new CorruptError('the page of jobs is not one of ours');
  const [ok, failed] = [amountOf(item, 'okJobs'), amountOf(item, 'failedJobs')];
  return {
    ...{ pages: page + 1, done: done.BOOL, cursor: lastSession?.S },
    unrecorded: amountOf(item, 'unrecorded'),
    ...{ sessions: ok + failed, ok, failed },
  };
}
