import { randomBytes } from 'node:crypto';
import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import {
  errorLookMs,
  errorRetentionSecs,
  errorShards,
  errorTrimInterval,
  memoryConcurrency,
} from '../../defaults.ts';
import { CorruptError } from '../../errors.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import { errorEntry, errorId, stampOf } from '../../sessions/error-entry.ts';
import type { ErrorLog, LoggedError } from '../../sessions/error-log.ts';
import { errorPage, parseErrorPlace, wantedOf } from '../../sessions/error-page.ts';
import { hashOf, shardOf } from '../../sessions/shard-of.ts';
import { boundedClient } from '../call-budget.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { translatedCall } from '../translated.ts';
import { ttlIn } from '../ttl.ts';

export interface DynamoDbErrorLogOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Tells errors of two writers in one millisecond apart. */
  readonly newUnique?: (() => string) | undefined;
}

/** Many more than are recorded between two trims, so that every one leaves fewer. */
const trimmedAtOnce = 10 * errorTrimInterval;

/**
 * Keeps errors in a table of their own, an agent's spread over `errorShards` partitions: one write records, and once in
 * a minute a look at the newest of each partition. Rolling is exact for readers, who count from the newest; rows that have rolled out are deleted by one error in 32,
 * by chance, and expire.
 */
export function dynamoDbErrorLog(options: DynamoDbErrorLogOptions): ErrorLog {
  const client = boundedClient(options.client);
  const { tableName, newUnique = () => randomBytes(9).toString('base64url') } = options;
  let sequence = 0;

  const record: ErrorLog['record'] = async (agent, error, { at, maxErrors }) => {
    const stamp = await stampNow(agent, at.getTime());
    const entry = errorEntry(errorId(stamp, sequence++, newUnique()), at, error);
    const { where, msg, stack, sessionId, runId } = entry;
    await client.send(
      new PutItemCommand({
        TableName: tableName,
        Item: {
          ...checkedKey(shardKey(agent, shardOf(entry.id, errorShards)), entry.id),
          v: { N: '1' },
          recordedAt: { N: String(at.getTime()) },
          where: { S: where },
          msg: { S: msg },
          ...(stack !== undefined && { stack: { S: stack } }),
          ...(sessionId !== undefined && { sessionId: { S: sessionId } }),
          ...(runId !== undefined && { runId: { S: runId } }),
          ttl: { N: String(ttlIn(at, errorRetentionSecs)) },
        },
      }),
    );
    // The error is safe by now: a failing clean-up must not make it look otherwise. A later one tries again.
    if (Math.floor(hashOf(entry.id) / errorShards) % errorTrimInterval === 0)
      await trim(agent, maxErrors).catch(() => {});
    return entry;
  };

  const clocks = new Map<string, Promise<OtherClocks>>();

  /** The newest stamp that there is decides, and this clock goes on from it. */
  const look = async (agent: string, now: number): Promise<OtherClocks> => {
    const [row] = await newest(agent, undefined, 1);
    return { lookedAt: now, ahead: row === undefined ? 0 : Math.max(0, stampOf(row.sk) + 1 - now), last: 0 };
  };

  /**
   * The stamp of an error that is recorded now. Once in a minute, and whenever this clock was set, a writer looks at the
   * newest stamp; between two looks no request is needed, and another writer may be a minute ahead.
   */
  const stampNow = async (agent: string, now: number): Promise<number> => {
    const known = await clocks.get(agent)?.catch(() => undefined);
    let seen = known;
    if (known === undefined || Math.abs(now - known.lookedAt) >= errorLookMs) {
      if (clocks.size >= agentsMax) clocks.clear();
      const looking = look(agent, now);
      clocks.set(agent, looking);
      // An error must not be lost because others could not be looked at.
      seen = await looking.catch(() => undefined);
    }
    if (seen === undefined) return now;
    seen.last = Math.max(seen.last, known?.last ?? 0, now + seen.ahead);
    return seen.last;
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
    const parts = new ExpressionParts();
    const inShard = `pk = ${parts.value({ S: pk })}`;
    const older = before === undefined ? '' : ` AND sk < ${parts.value({ S: before })}`;
    const rows: Row[] = [];
    const pages = queryPages(client, {
      TableName: tableName,
      KeyConditionExpression: inShard + older,
      ScanIndexForward: false,
      limit: () => wanted - rows.length,
      ...parts.attributes,
    });
    for await (const items of pages) {
      rows.push(...items.map((item) => ({ pk, sk: item.sk?.S ?? '', item })));
      if (rows.length >= wanted) break;
    }
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

/** What a writer has seen of the others' clocks, and its own last stamp. */
interface OtherClocks {
  readonly lookedAt: number;
  readonly ahead: number;
  last: number;
}

/** With tenants there are as many as tenants: a process forgets them all before they are too many. */
const agentsMax = 1000;

interface Row {
  readonly pk: string;
  readonly sk: string;
  readonly item: Item;
}

function shardKey(agent: string, shard: number): string {
  return `errors/${storeKeyScope(agent)}/${shard}`;
}

function parseError({ sk, item }: Row): LoggedError {
  // What was recorded before stamps were told from times has its time there only.
  const ts = new Date(Number(item.recordedAt?.N ?? stampOf(sk)));
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
