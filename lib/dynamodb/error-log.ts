import { randomBytes } from 'node:crypto';
import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { errorRetentionSecs, errorShards, errorTrimInterval, memoryConcurrency } from '../defaults.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import { errorEntry, errorId } from '../sessions/error-entry.ts';
import type { ErrorLog, LoggedError } from '../sessions/error-log.ts';
import { errorPage, parseErrorPlace, wantedOf } from '../sessions/error-page.ts';
import { hashOf, shardOf } from '../sessions/shard-of.ts';
import { boundedClient } from './call-budget.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import type { Item } from './snapshot-head.ts';
import { translatedCall } from './translated.ts';

export interface DynamoDbErrorLogOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Tells errors of two writers in one millisecond apart. */
  readonly newUnique?: (() => string) | undefined;
}

/** Many more than are recorded between two trims, so that every one leaves fewer. */
const trimmedAtOnce = 10 * errorTrimInterval;

/**
 * Keeps errors in a table of their own, an agent's spread over `errorShards` partitions: one write records. Rolling is
 * exact for readers, who count from the newest; rows that have rolled out are deleted by one error in 32,
 * by chance, and expire.
 */
export function dynamoDbErrorLog(options: DynamoDbErrorLogOptions): ErrorLog {
  const client = boundedClient(options.client);
  const { tableName, newUnique = () => randomBytes(9).toString('base64url') } = options;
  let sequence = 0;

  const record: ErrorLog['record'] = async (agent, error, { at, maxErrors }) => {
    const entry = errorEntry(errorId(at, sequence++, newUnique()), at, error);
    const { where, msg, stack, sessionId, runId } = entry;
    await client.send(
      new PutItemCommand({
        TableName: tableName,
        Item: {
          ...checkedKey(shardKey(agent, shardOf(entry.id, errorShards)), entry.id),
          v: { N: '1' },
          where: { S: where },
          msg: { S: msg },
          ...(stack !== undefined && { stack: { S: stack } }),
          ...(sessionId !== undefined && { sessionId: { S: sessionId } }),
          ...(runId !== undefined && { runId: { S: runId } }),
          ttl: { N: String(Math.floor(at.getTime() / 1000) + errorRetentionSecs) },
        },
      }),
    );
    // The error is safe by now: a failing clean-up must not make it look otherwise. A later one tries again.
    if (Math.floor(hashOf(entry.id) / errorShards) % errorTrimInterval === 0)
      await trim(agent, maxErrors).catch(() => {});
    return entry;
  };

  /** An agent's errors of all shards, newest first, from `before` on. */
  const newest = async (agent: string, before: string | undefined, wanted: number): Promise<Row[]> => {
    if (wanted === 0) return [];
    const shards = Array.from({ length: errorShards }, (_, shard) => shardKey(agent, shard));
    const rows = await pMap(shards, (pk) => shardRows(pk, before, wanted));
    return rows
      .flat()
      .sort((a, b) => (a.sk < b.sk ? 1 : -1))
      .slice(0, wanted);
  };

  const shardRows = async (pk: string, before: string | undefined, wanted: number): Promise<Row[]> => {
    const rows: Row[] = [];
    let startKey: Item | undefined;
    do {
      const parts = new ExpressionParts();
      const inShard = `pk = ${parts.value({ S: pk })}`;
      const older = before === undefined ? '' : ` AND sk < ${parts.value({ S: before })}`;
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: inShard + older,
          ConsistentRead: true,
          ScanIndexForward: false,
          Limit: wanted - rows.length,
          ExclusiveStartKey: startKey,
          ...parts.attributes,
        }),
      );
      rows.push(...Items.map((item) => ({ pk, sk: item.sk?.S ?? '', item })));
      startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
    } while (startKey !== undefined && rows.length < wanted);
    return rows;
  };

  /** Deletes what has rolled out. It is older than everything in the log, so that no new error can be among it. */
  const trim = async (agent: string, maxErrors: number): Promise<void> => {
    const oldestKept = (await newest(agent, undefined, maxErrors))[maxErrors - 1];
    if (oldestKept === undefined) return;
    const rolledOut = await newest(agent, oldestKept.sk, trimmedAtOnce);
    await pMap(
      rolledOut,
      ({ pk, sk }) =>
        client.send(new DeleteItemCommand({ TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } })),
      { concurrency: memoryConcurrency },
    );
  };

  return {
    record: (agent, error, recordOptions) => translatedCall(() => record(agent, error, recordOptions)),
    list: (query) =>
      translatedCall(async () => {
        const place = parseErrorPlace(query.after);
        const rows = await newest(query.agent, place.before, wantedOf(query, place));
        return errorPage(rows.map(parseError), query, place);
      }),
  };
}

interface Row {
  readonly pk: string;
  readonly sk: string;
  readonly item: Item;
}

function shardKey(agent: string, shard: number): string {
  return `errors/${storeKeyScope(agent)}/${shard}`;
}

function parseError({ sk, item }: Row): LoggedError {
  const ts = new Date(Number(sk.slice(0, sk.indexOf('.'))));
  if (item.v?.N !== '1' || Number.isNaN(ts.getTime()))
    throw new CorruptError('the error item has another format');
  return errorEntry(sk, ts, {
    where: item.where?.S ?? '',
    msg: item.msg?.S ?? '',
    stack: item.stack?.S,
    sessionId: item.sessionId?.S,
    runId: item.runId?.S,
  });
}
