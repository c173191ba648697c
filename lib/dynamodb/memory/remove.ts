import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { UnavailableError } from '../../errors.ts';
import type { MemoryScope } from '../../memory/memory-store.ts';
import { buryChunkRows, type ChunkedTable, formatChunkSet, parseChunkSet } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { itemKey } from '../item.ts';
import { isConditionFailure, wasRetried } from '../translate-error.ts';
import { formatMarker, type Marker, markerTtl } from './fence.ts';
import { limboPlace, memoryPartition } from './keys.ts';
import { getRowAt } from './read.ts';
import type { RecordRow } from './record.ts';

/**
 * Replaces a record that was read by a marker, or deletes it where there is none to leave, unless it was replaced or
 * removed since: then resolves false. A later forget may fence it meanwhile, whose fence is then kept.
 */
export async function removeRecord(
  table: ChunkedTable,
  scope: MemoryScope,
  row: RecordRow,
  markerOf: (row: RecordRow) => Promise<Marker | undefined>,
): Promise<boolean> {
  let seen = row;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const outcome = await removeAsSeen(table, scope, seen, await markerOf(seen));
    if (typeof outcome === 'boolean') return outcome;
    seen = { ...outcome, sets: row.sets };
  }
  throw new UnavailableError('others went on forgetting the session, again and again');
}

/**
 * Resolves whether it removed the record; or the row, when a forget has fenced it since it was read.
 * Without chunk rows: one conditional update.
 * With chunk rows: 1. put the item in limbo with the marker and claim its sets, from which moment nothing is stored and
 * no writer can commit, 2. put tombstones in the place of the rows, 3. leave only the marker. A crash after 1 leaves it in limbo, for the next
 * one who forgets.
 */
async function removeAsSeen(
  table: ChunkedTable,
  scope: MemoryScope,
  row: RecordRow,
  marker: Marker | undefined,
): Promise<boolean | RecordRow> {
  const committed = row.chunks === undefined ? [] : [formatChunkSet(row.chunks)];
  const sets = [...new Set([...committed, ...row.sets, ...row.dead])];
  const marked = marker && formatMarker(marker, row, table.clock());
  const left = marker && { ...marked, ttl: markerTtl(marker) };
  if (sets.length === 0) {
    if (await leaveOnly(table, scope, row, left, ['sets', 'dead'])) return true;
    return (await fencedSince(table, scope, row)) ?? false;
  }
  const place = await claim(table, scope, row, sets, marked ?? {});
  if (place === undefined) return (await fencedSince(table, scope, row)) ?? false;
  await buryChunkRows(
    table,
    sets.map(parseChunkSet).filter((set) => set !== undefined),
  );
  const claimed = { sk: row.sk, place, fence: marked === undefined ? row.fence : Number(marked.fence?.N) };
  if (await leaveOnly(table, scope, claimed, left, ['sets'])) return true;
  const fenced = await fencedSince(table, scope, claimed);
  if (fenced === undefined) await unclaim(table, itemKey({ pk: memoryPartition(scope), sk: row.sk }), sets);
  return fenced ?? true;
}

type Seen = Pick<RecordRow, 'sk' | 'place' | 'fence'>;

async function fencedSince(
  table: ChunkedTable,
  scope: MemoryScope,
  seen: Seen,
): Promise<RecordRow | undefined> {
  const now = await getRowAt(table, scope, seen.sk);
  return now?.place === seen.place && now.fence !== seen.fence ? now : undefined;
}

function sameFence({ fence }: Pick<RecordRow, 'fence'>, parts: ExpressionParts): string {
  return fence === undefined ? 'attribute_not_exists(fence)' : `fence = ${parts.value({ N: String(fence) })}`;
}

/** Leaves only the marker, or nothing, of the item if it is as it was seen and has none of these attributes. */
async function leaveOnly(
  table: ChunkedTable,
  scope: MemoryScope,
  seen: Seen,
  left: Item | undefined,
  without: readonly string[],
): Promise<boolean> {
  const parts = new ExpressionParts();
  const absent = without.map((name) => `attribute_not_exists(${parts.name(name)})`);
  const unchanged = [`place = ${parts.value({ S: seen.place })}`, sameFence(seen, parts)];
  const request = {
    TableName: table.tableName,
    Key: itemKey({ pk: memoryPartition(scope), sk: seen.sk }),
    ConditionExpression: [...unchanged, ...absent].join(' AND '),
  };
  const assign = parts.assign(left ?? {});
  const update = {
    UpdateExpression: `SET ${assign} REMOVE place, info, body, chunks, arrival, digest, dead`,
  };
  try {
    await table.client.send(
      left === undefined
        ? new DeleteItemCommand({ ...request, ...parts.attributes })
        : new UpdateItemCommand({ ...request, ...update, ...parts.attributes }),
    );
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (!wasRetried(error)) return false;
    // An earlier try, whose answer was lost, may have removed it.
    return (await getRowAt(table, scope, seen.sk))?.place !== seen.place;
  }
}

/** Resolves the item's place in limbo; undefined when it was replaced or removed since it was read. */
async function claim(
  table: ChunkedTable,
  scope: MemoryScope,
  row: RecordRow,
  sets: string[],
  marked: Item,
): Promise<string | undefined> {
  const parts = new ExpressionParts();
  const limbo = limboPlace(table.clock().getTime());
  const claimed = parts.value({ SS: sets });
  const assign = parts.assign({ ...marked, place: { S: limbo } });
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey({ pk: memoryPartition(scope), sk: row.sk }),
        UpdateExpression: [
          `SET ${assign}`,
          `REMOVE info, body, chunks, arrival, digest, ${parts.name('ttl')}`,
          `ADD dead ${claimed} DELETE ${parts.name('sets')} ${claimed}`,
        ].join(' '),
        ConditionExpression: `place = ${parts.value({ S: row.place })} AND ${sameFence(row, parts)}`,
        ...parts.attributes,
      }),
    );
    return limbo;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (!wasRetried(error)) return undefined;
    // An earlier try may have claimed them. If not, their writer may have put the item in place since.
    const now = await getRowAt(table, scope, row.sk);
    return sets.every((set) => now?.dead.includes(set)) ? limbo : undefined;
  }
}

/** Another writer has announced rows of its own in the item meanwhile: it stays, without what was removed. */
async function unclaim(table: ChunkedTable, key: Item, sets: string[]): Promise<void> {
  const parts = new ExpressionParts();
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: key,
        UpdateExpression: `DELETE dead ${parts.value({ SS: sets })}`,
        ConditionExpression: 'attribute_exists(pk)',
        ...parts.attributes,
      }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/**
 * Takes away the item of a value, or of what a compaction removed, if it is unchanged: what it says of its content goes
 * too. Resolves whether it did.
 */
export async function replaceByMarker(
  table: ChunkedTable,
  scope: MemoryScope,
  row: RecordRow,
  marker: Marker,
): Promise<boolean> {
  const parts = new ExpressionParts();
  const left = formatMarker(marker, row, table.clock());
  const assign = parts.assign({ ...left, ttl: markerTtl(marker) });
  const unchanged = sameFence(row, parts);
  const same =
    row.arrival === undefined
      ? 'attribute_not_exists(arrival)'
      : `arrival = ${parts.value({ N: String(row.arrival) })}`;
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey({ pk: memoryPartition(scope), sk: row.sk }),
        UpdateExpression: `SET ${assign} REMOVE info, body, arrival, digest`,
        ConditionExpression: `attribute_not_exists(place) AND ${unchanged} AND ${same}`,
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    if (!wasRetried(error)) return false;
    // An earlier try may have left the marker; what was stored after that came later.
    const now = await getRowAt(table, scope, row.sk);
    return now !== undefined && (now.hasInfo || String(now.fence) === left.fence?.N);
  }
}

export async function deleteItem(table: ChunkedTable, scope: MemoryScope, sk: string): Promise<void> {
  await table.client.send(
    new DeleteItemCommand({ TableName: table.tableName, Key: itemKey({ pk: memoryPartition(scope), sk }) }),
  );
}
