import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { raceAttempts } from '../../defaults.ts';
import { UnavailableError } from '../../errors.ts';
import type { Appended, MemoryScope, RecordKind } from '../../memory/memory-store.ts';
import type { PlacedRecord } from '../../memory/record-place.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import { buryChunkRows, type ChunkSet, formatChunkSet, writeChunkRows } from '../chunk-rows.ts';
import { ExpressionParts } from '../expression.ts';
import { stillAnnounced } from '../snapshots/conditions.ts';
import { isConditionFailure, wasRetried } from '../translate-error.ts';
import { isFenced, markerAttributes, notFenced } from './fence.ts';
import { limboPlace, memoryPartition, recordKey, recordPlace } from './keys.ts';
import { getRow, wholeRecord } from './read.ts';
import { formatRecord, isVisible, recordAttributes, recordTtl } from './record.ts';

interface RecordWrite {
  readonly scope: MemoryScope;
  readonly kind: RecordKind;
  readonly record: PlacedRecord;
  /** The number of the call. */
  readonly arrival: number;
}

/**
 * Stores a record unless one is stored under its id; which of two writers was first, DynamoDB decides. Resolves `fenced`
 * when something was forgotten after the call began, so that only a new call may store it.
 * A small one: one conditional update.
 * A large one: 1. announce the chunk set in the record's item, which is in limbo, 2. write the chunk rows, 3. put the
 * item in place with one conditional update. A crash before 3 leaves an item in limbo that names its rows: writers of
 * the same id pass over it, and whoever forgets something of the session later removes it.
 */
export async function storeRecord(table: ChunkedTable, write: RecordWrite): Promise<Appended | 'fenced'> {
  const { scope, kind, record, arrival } = write;
  const inline = record.dump.data.length <= table.inlineMaxBytes;
  const own = { record: { ...record, arrival }, created: true };
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    try {
      await (inline ? commit(table, write, undefined) : storeChunked(table, write));
      return own;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      const row = await getRow(table, scope, kind, record.id);
      if (row === undefined) continue;
      if (isVisible(row, table.clock())) {
        const stored = await wholeRecord(table, scope, kind, row);
        // After a retry of the SDK the record that is there may be this very one. No other has its place.
        const isOwn = row.arrival === arrival && row.place === recordPlace(kind, record.place);
        if (stored !== undefined) return { record: stored, created: isOwn && wasRetried(error) };
      } else if (isFenced(row, arrival, table.clock())) {
        if (row.gone?.compacted !== undefined) return { compacted: { id: record.id, ...row.gone.compacted } };
        // It was stored, and forgotten after that: a retry came late.
        return row.gone?.arrival === arrival ? own : 'fenced';
      }
    }
  }
  throw new UnavailableError(`others stored and removed the record ${record.id}, again and again`);
}

async function storeChunked(table: ChunkedTable, write: RecordWrite): Promise<void> {
  const { scope, kind, record } = write;
  const { data } = record.dump;
  const set = await announceSet(table, write, Math.ceil(data.length / table.chunkMaxBytes));
  try {
    const ttl = record.expiresAt && recordTtl(record.expiresAt, table.clock());
    const owner = `${memoryPartition(scope)}/${kind}/${record.id}`;
    await writeChunkRows(table, set, { data, owner, ttl });
    await commit(table, write, set);
  } catch (error) {
    // Whether the commit took effect is known only when DynamoDB refused it. Otherwise the rows stay, named in the item.
    if (isConditionFailure(error) && !wasRetried(error)) await withdraw(table, write, set);
    throw error;
  }
}

/**
 * An announcement that was sent again may arrive when its set has been removed, and would have it committed without its
 * rows: then another set takes its place. The name that is left in the item goes with the record.
 */
async function announceSet(table: ChunkedTable, write: RecordWrite, count: number): Promise<ChunkSet> {
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    const set = { etag: table.newEtag(), count, announcedAt: table.clock().getTime() };
    if (!wasRetried(await announce(table, write, formatChunkSet(set)))) return set;
  }
  throw new UnavailableError('no announcement of a chunk set was answered at once');
}

async function announce(table: ChunkedTable, write: RecordWrite, set: string): Promise<unknown> {
  const { scope, kind, record } = write;
  const parts = new ExpressionParts();
  const limbo = parts.value({ S: limboPlace(table.clock().getTime()) });
  return table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: recordKey(scope, kind, record.id),
      UpdateExpression: `SET place = if_not_exists(place, ${limbo}) ADD ${parts.name('sets')} ${parts.value({ SS: [set] })}`,
      ConditionExpression: mayStore(table, write, parts),
      ...parts.attributes,
    }),
  );
}

async function commit(table: ChunkedTable, write: RecordWrite, set: ChunkSet | undefined): Promise<void> {
  const { scope, kind, record, arrival } = write;
  const parts = new ExpressionParts();
  const attributes = formatRecord(record, {
    ...{ set, arrival },
    place: recordPlace(kind, record.place),
    storedAt: table.clock(),
  });
  const assign = parts.assign(attributes);
  const remove = [...recordAttributes, ...markerAttributes]
    .filter((name) => !(name in attributes))
    .map((name) => parts.name(name));
  const conditions = [mayStore(table, write, parts)];
  if (set !== undefined) conditions.push(stillAnnounced(parts.value({ S: formatChunkSet(set) }), parts));
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: recordKey(scope, kind, record.id),
      UpdateExpression: `SET ${assign} REMOVE ${remove.join(', ')}`,
      ConditionExpression: conditions.join(' AND '),
      ...parts.attributes,
    }),
  );
}

/** No reader sees a record under this id (there is none, it is in limbo, or it has expired), and no forget has come. */
function mayStore(table: ChunkedTable, { arrival }: RecordWrite, parts: ExpressionParts): string {
  const now = table.clock();
  const limbo = parts.value({ S: 'limbo/' });
  const time = parts.value({ N: String(now.getTime()) });
  const notStored = `attribute_not_exists(place) OR begins_with(place, ${limbo}) OR info.expiresAt <= ${time}`;
  return `(${notStored}) AND ${notFenced(arrival, now, parts)}`;
}

/** Somebody else stored the record first, or it was forgotten: what this writer wrote of it is superfluous. */
async function withdraw(table: ChunkedTable, { scope, kind, record }: RecordWrite, set: ChunkSet) {
  try {
    await buryChunkRows(table, [set]);
    const parts = new ExpressionParts();
    const own = parts.value({ SS: [formatChunkSet(set)] });
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: recordKey(scope, kind, record.id),
        UpdateExpression: `DELETE ${parts.name('sets')} ${own}`,
        ConditionExpression: `attribute_exists(place)`,
        ...parts.attributes,
      }),
    );
  } catch {
    // The rows stay named in the item, for whoever forgets the record.
  }
}
