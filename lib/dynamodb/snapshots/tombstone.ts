import { DeleteItemCommand, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { formatChunkSet } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { type ItemKey, itemKey } from '../item.ts';
import type { Lane, LaneMarks } from '../lanes.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlAfter, ttlOf } from '../ttl.ts';
import { nothingNamed } from './conditions.ts';
import { type Head, isEmptyHead, parseHead } from './head.ts';
import type { HeadTable } from './table.ts';

/*
 * A tombstone is a head over which nothing is stored, kept for the lanes on it: they keep out the requests that may
 * still arrive. Its attribute `gone` is the mark of the one who left it, and every later write of the head changes or
 * removes it, so that nobody deletes a tombstone that has become another one. Its `ttl` bounds its life.
 */

/**
 * What is left to do for a head whose superfluous rows are gone: an empty one goes, or becomes a tombstone; one whose
 * snapshot expires gets back the `ttl` that an announcement took from it.
 */
export async function settle(table: HeadTable, key: ItemKey, head: Head, lane: Lane): Promise<void> {
  if (isEmptyHead(head)) {
    if (!head.exists || head.isTemporary) return;
    const marker = table.newEtag();
    const marks = await markAsGone(table, key, marker);
    if (marks !== undefined) await dropTombstone(table, key, marker, { marks, lane });
  } else {
    await restoreTtl(table, key, head);
  }
}

/** Resolves the lanes on the item; undefined when it is not empty any more. */
async function markAsGone(table: HeadTable, key: ItemKey, marker: string): Promise<LaneMarks | undefined> {
  const parts = new ExpressionParts();
  const until = parts.value({ N: String(ttlAfter(table.clock())) });
  try {
    const { Attributes = {} } = await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `SET gone = ${parts.value({ S: marker })}, ${parts.name('ttl')} = ${until}`,
        ConditionExpression: `attribute_exists(pk) AND ${nothingNamed(parts)}`,
        ReturnValues: 'ALL_NEW',
        ...parts.attributes,
      }),
    );
    return parseHead(Attributes).lanes;
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
}

/** Deletes the tombstone where no request can arrive any more that it would keep out. It would expire anyway: no failure matters. */
export async function dropTombstone(
  table: HeadTable,
  key: ItemKey,
  marker: string,
  { marks, lane }: { marks: LaneMarks; lane: Lane },
): Promise<void> {
  if (!table.lanes.allOver(marks, lane)) return;
  const parts = new ExpressionParts();
  const unchanged = `gone = ${parts.value({ S: marker })} AND ${nothingNamed(parts)}`;
  const request = new DeleteItemCommand({
    TableName: table.tableName,
    Key: itemKey(key),
    ConditionExpression: unchanged,
    ...parts.attributes,
  });
  await table.client.send(request).catch(() => {});
}

/** Not while rows of others are named: nobody would find them. */
async function restoreTtl(table: HeadTable, key: ItemKey, head: Head): Promise<void> {
  const { snapshot, isTemporary, chunks } = head;
  if (snapshot?.expiresAt === undefined || isTemporary) return;
  const current = chunks && formatChunkSet(chunks);
  const parts = new ExpressionParts();
  const until = Math.max(ttlOf(snapshot.expiresAt), ttlAfter(table.clock()));
  const named = current === undefined ? undefined : parts.value({ SS: [current] });
  const conditions = [
    `etag = ${parts.value({ S: snapshot.etag })}`,
    named ? `${parts.name('sets')} = ${named}` : `attribute_not_exists(${parts.name('sets')})`,
    'attribute_not_exists(dead)',
  ];
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: `SET ${parts.name('ttl')} = ${parts.value({ N: String(until) })}`,
        ConditionExpression: conditions.join(' AND '),
        ...parts.attributes,
      }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/** Removes lanes that nobody needs any more, and what belongs to them, unless their writers have come back. */
export async function trimLanes(
  table: { readonly client: DynamoDBClient; readonly tableName: string },
  key: ItemKey,
  over: readonly (readonly [attribute: string, mark: string])[],
  besides: (attribute: string) => readonly string[] = () => [],
): Promise<void> {
  const parts = new ExpressionParts();
  const unchanged = over.map(([attribute, mark]) => `${attribute} = ${parts.value({ N: mark })}`);
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: itemKey(key),
      UpdateExpression: `REMOVE ${over.flatMap(([attribute]) => [attribute, ...besides(attribute)]).join(', ')}`,
      ConditionExpression: unchanged.join(' AND '),
      ...parts.attributes,
    }),
  );
}
