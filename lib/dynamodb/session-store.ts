import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { sessionShards } from '../defaults.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import { storeKeyScope } from '../persistence/store-key.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionPage, SessionShardQuery, SessionStore } from '../sessions/session-store.ts';
import { shardOf } from '../sessions/shard-of.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import type { Item } from './snapshot-head.ts';
import { isConditionFailure } from './translate-error.ts';
import { translated } from './translated.ts';

const itemVersion = '1';
const sortKeyPrefix = 'session/';

/**
 * Keeps sessions in a DynamoDB table: one item each, an agent's spread over `sessionShards` partitions. Registering and
 * marking as active cost one write each, whoever else does the same.
 */
export function dynamoDbSessionStore(client: DynamoDBClient, tableName: string): SessionStore {
  const keyOf = (agent: string, id: string) =>
    checkedKey(shardKey(agent, shardOf(id, sessionShards)), sortKeyPrefix + id);

  const register: SessionStore['register'] = async (agent, { id, meta, at }) => {
    const parts = new ExpressionParts();
    const now = parts.value({ N: String(at.getTime()) });
    const set = [
      `v = ${parts.value({ N: itemVersion })}`,
      `meta = ${parts.value({ S: JSON.stringify(meta) })}`,
      `registeredAt = if_not_exists(registeredAt, ${now})`,
      `lastActiveAt = ${now}`,
    ];
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: keyOf(agent, id),
        UpdateExpression: `SET ${set.join(', ')}`,
        ReturnValues: 'ALL_OLD',
        ...parts.attributes,
      }),
    );
    const registeredAt = Attributes === undefined ? at : parseSession(Attributes).registeredAt;
    return { session: { id, meta, registeredAt, lastActiveAt: at }, created: Attributes === undefined };
  };

  const touch = async (agent: string, id: string, at: Date): Promise<boolean> => {
    const parts = new ExpressionParts();
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: keyOf(agent, id),
          UpdateExpression: `SET lastActiveAt = ${parts.value({ N: String(at.getTime()) })}`,
          ConditionExpression: 'attribute_exists(pk)',
          ...parts.attributes,
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  };

  const get = async (agent: string, id: string): Promise<Session | undefined> => {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: keyOf(agent, id), ConsistentRead: true }),
    );
    return Item && parseSession(Item);
  };

  const deregister: SessionStore['deregister'] = async (agent, id, onlyIf) => {
    const parts = new ExpressionParts();
    const unchanged = onlyIf && `meta = ${parts.value({ S: JSON.stringify(onlyIf.meta) })}`;
    try {
      const { Attributes } = await client.send(
        new DeleteItemCommand({
          TableName: tableName,
          Key: keyOf(agent, id),
          ReturnValues: 'ALL_OLD',
          ...(unchanged !== undefined && { ConditionExpression: unchanged, ...parts.attributes }),
        }),
      );
      return Attributes !== undefined;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  };

  /** Reads on over empty pages, and one item further than asked, so that a page has a `next` only if something follows. */
  const listShard = async ({ agent, shard, limit, after }: SessionShardQuery): Promise<SessionPage> => {
    const pk = shardKey(agent, shard);
    const found: Session[] = [];
    let startKey: Item | undefined =
      after === undefined ? undefined : { pk: { S: pk }, sk: { S: sortKeyPrefix + after } };
    do {
      const parts = new ExpressionParts();
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: `pk = ${parts.value({ S: pk })}`,
          ConsistentRead: true,
          Limit: limit + 1 - found.length,
          ExclusiveStartKey: startKey,
          ...parts.attributes,
        }),
      );
      for (const item of Items) found.push(parseSession(item));
      startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
    } while (startKey !== undefined && found.length <= limit);
    const items = found.slice(0, limit);
    return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
  };

  return {
    register: (agent, session) => translated(() => register(agent, session)),
    touch: (agent, id, at) => translated(() => touch(agent, id, at)),
    get: (agent, id) => translated(() => get(agent, id)),
    deregister: (agent, id, onlyIf) => translated(() => deregister(agent, id, onlyIf)),
    listShard: (query) => translated(() => listShard(query)),
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
