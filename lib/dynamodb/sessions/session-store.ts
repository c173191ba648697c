import { randomUUID } from 'node:crypto';
import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type Clock, systemClock } from '../../clock.ts';
import { sessionShards } from '../../defaults.ts';
import { CorruptError } from '../../errors.ts';
import { jsonText } from '../../persistence/json-text.ts';
import { storeKeyScope } from '../../persistence/store-key.ts';
import type { Session } from '../../sessions/session.ts';
import type { SessionPage, SessionShardQuery, SessionStore } from '../../sessions/session-store.ts';
import { shardOf } from '../../sessions/shard-of.ts';
import { boundedClient } from '../call-budget.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { isConditionFailure, wasRetried } from '../translate-error.ts';
import { translatedCall } from '../translated.ts';
import { ttlAfter } from '../ttl.ts';

const itemVersion = '1';
const sortKeyPrefix = 'session/';
const isRegistered = 'attribute_exists(registeredAt)';

/** Not what is left of one that was deregistered. */
function isSession(item: Item): boolean {
  return item.registeredAt !== undefined || item.deregisteredBy === undefined;
}

/**
 * Keeps sessions in a DynamoDB table: one item each, an agent's spread over `sessionShards` partitions. Registering and
 * marking as active cost one write each, whoever else does the same.
 */
export function dynamoDbSessionStore(
  given: DynamoDBClient,
  tableName: string,
  clock: Clock = systemClock,
): SessionStore {
  const client = boundedClient(given);
  const keyOf = (agent: string, id: string) =>
    checkedKey(shardKey(agent, shardOf(id, sessionShards)), sortKeyPrefix + id);

  /**
   * What names its call makes it exact where the SDK sends it again: a registration that was applied, and deregistered
   * since, does not come back.
   */
  const register: SessionStore['register'] = async (agent, { id, meta, at }) => {
    const parts = new ExpressionParts();
    const call = randomUUID();
    const [now, own] = [parts.value({ N: String(at.getTime()) }), parts.value({ S: call })];
    const set = [
      `v = ${parts.value({ N: itemVersion })}`,
      `meta = ${parts.value({ S: jsonText(meta) })}`,
      `registeredAt = if_not_exists(registeredAt, ${now})`,
      `registeredBy = if_not_exists(registeredBy, ${own})`,
      `lastActiveAt = ${now}`,
    ];
    try {
      const { Attributes = {} } = await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: keyOf(agent, id),
          UpdateExpression: `SET ${set.join(', ')} REMOVE ${parts.name('ttl')}`,
          ConditionExpression: `attribute_not_exists(deregisteredOf) OR deregisteredOf <> ${own}`,
          ReturnValues: 'ALL_NEW',
          ...parts.attributes,
        }),
      );
      const session = parseSession({ ...Attributes, sk: { S: sortKeyPrefix + id } });
      // One that an earlier release registered bears no call's name: this call is the first to leave one.
      const isOwn = Attributes.registeredBy?.S === call && session.registeredAt.getTime() === at.getTime();
      return { session, created: isOwn };
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return { session: { id, meta, registeredAt: at, lastActiveAt: at }, created: true };
    }
  };

  const touch = async (agent: string, id: string, at: Date): Promise<boolean> => {
    const parts = new ExpressionParts();
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: keyOf(agent, id),
          UpdateExpression: `SET lastActiveAt = ${parts.value({ N: String(at.getTime()) })}`,
          ConditionExpression: isRegistered,
          ...parts.attributes,
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  };

  const readItem = async (agent: string, id: string): Promise<Item | undefined> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: keyOf(agent, id), ConsistentRead: true }),
    );
    return Item;
  };

  const get = async (agent: string, id: string): Promise<Session | undefined> => {
    const item = await readItem(agent, id);
    return item && isSession(item) ? parseSession(item) : undefined;
  };

  /** Leaves a tombstone, which names this call and the registration that it ended, until no retry of either can come. */
  const deregister: SessionStore['deregister'] = async (agent, id, onlyIf) => {
    const parts = new ExpressionParts();
    const call = randomUUID();
    const own = parts.value({ S: call });
    const set = [
      `deregisteredBy = ${own}`,
      `deregisteredOf = if_not_exists(registeredBy, ${own})`,
      `${parts.name('ttl')} = ${parts.value({ N: String(ttlAfter(clock())) })}`,
    ];
    const conditions = [isRegistered, `(attribute_not_exists(deregisteredBy) OR deregisteredBy <> ${own})`];
    if (onlyIf !== undefined) conditions.push(`meta = ${parts.value({ S: jsonText(onlyIf.meta) })}`);
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: keyOf(agent, id),
          UpdateExpression: `SET ${set.join(', ')} REMOVE v, meta, registeredAt, registeredBy, lastActiveAt`,
          ConditionExpression: conditions.join(' AND '),
          ...parts.attributes,
        }),
      );
      return true;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      if (!wasRetried(error)) return false;
      // An earlier try may have ended it.
      return (await readItem(agent, id))?.deregisteredBy?.S === call;
    }
  };

  /** Reads on over empty pages, and one item further than asked, so that a page has a `next` only if something follows. */
  const listShard = async ({ agent, shard, limit, after }: SessionShardQuery): Promise<SessionPage> => {
    const pk = shardKey(agent, shard);
    const parts = new ExpressionParts();
    const found: Session[] = [];
    const pages = queryPages(client, {
      TableName: tableName,
      KeyConditionExpression: `pk = ${parts.value({ S: pk })}`,
      limit: () => limit + 1 - found.length,
      ExclusiveStartKey:
        after === undefined ? undefined : { pk: { S: pk }, sk: { S: sortKeyPrefix + after } },
      ...parts.attributes,
    });
    for await (const page of pages) {
      for (const item of page) if (isSession(item)) found.push(parseSession(item));
      if (found.length > limit) break;
    }
    const items = found.slice(0, limit);
    return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
  };

  return {
    register: (agent, session) => translatedCall(() => register(agent, session)),
    touch: (agent, id, at) => translatedCall(() => touch(agent, id, at)),
    get: (agent, id) => translatedCall(() => get(agent, id)),
    deregister: (agent, id, onlyIf) => translatedCall(() => deregister(agent, id, onlyIf)),
    listShard: (query) => translatedCall(() => listShard(query)),
  };
}

function shardKey(agent: string, shard: number): string {
  return `sessions/${storeKeyScope(agent)}/${shard}`;
}

function parseSession(item: Item): Session {
  const registeredAt = Number(item.registeredAt?.N ?? Number.NaN);
  const lastActiveAt = Number(item.lastActiveAt?.N ?? Number.NaN);
  const { sk, meta, v } = item;
  if (v?.N !== itemVersion || !sk?.S?.startsWith(sortKeyPrefix) || Number.isNaN(registeredAt + lastActiveAt))
    throw new CorruptError('the session item is not one of ours');
  return {
    id: sk.S.slice(sortKeyPrefix.length),
    meta: parseMeta(meta?.S),
    registeredAt: new Date(registeredAt),
    lastActiveAt: new Date(lastActiveAt),
  };
}

function parseMeta(text: string | undefined): Session['meta'] {
  try {
    return JSON.parse(text ?? '');
  } catch (error) {
    throw new CorruptError("the session's meta is not JSON", { cause: error });
  }
}
