import { abandonedAfterMs, memoryConcurrency, raceAttempts } from '../../defaults.ts';
import { UnavailableError } from '../../errors.ts';
import type { MemoryScope, Moment, RecordKind, TimeRange } from '../../memory/memory-store.ts';
import { placesOf } from '../../memory/record-place.ts';
import { ExpressionParts } from '../expression.ts';
import { forEachSettled } from '../for-each-settled.ts';
import { queryPages } from '../query-pages.ts';
import { beginForget, readMoment } from './clock.ts';
import { fenceUnderWay, forgetMarker, type Marker } from './fence.ts';
import { kindOf, limboPlace, memoryPartition, recordPlace } from './keys.ts';
import type { MemoryTable } from './lanes.ts';
import { getRows, indexPages } from './read.ts';
import { isInLimbo, isVisible, parseRecord, type RecordRow, removalAttributes } from './record.ts';
import { deleteItem, removeRecord, replaceByMarker } from './remove.ts';

/** Begins a forget of a part of the session: calls under way that have stored nothing yet start over as new ones. */
export async function beginPartialForget(table: MemoryTable, scope: MemoryScope): Promise<Moment> {
  const forget = await beginForget(table, scope, { ofAll: false });
  await fenceUnderWay(table, scope, forget, { records: 'only' });
  return { arrivals: forget.horizon, forgets: forget.forgets };
}

/** Removes the records of a range, and what crashed writers and removers left in the session. */
export async function forgetRange(
  table: MemoryTable,
  scope: MemoryScope,
  kind: RecordKind,
  range: TimeRange,
  moment: Moment,
): Promise<number> {
  const marker = forgetMarker({ horizon: moment.arrivals }, table.clock());
  const removed = await removeIndexed(table, scope, boundsOf(kind, range), async () => marker);
  await sweepLimbo(table, scope);
  return removed.visible;
}

/**
 * As `forgetRange`, without being a moment in the order of calls: whatever began before is refused. Resolves how many,
 * those that had expired included.
 */
export async function pruneRange(
  table: MemoryTable,
  scope: MemoryScope,
  kind: RecordKind,
  range: TimeRange,
): Promise<number> {
  let marker: Promise<Marker> | undefined;
  const markerOf = () => {
    // Most sessions have nothing to prune: then nothing but the index is read.
    marker ??= readMoment(table, scope).then(({ arrivals }) => ({
      ...forgetMarker({ horizon: arrivals + 1 }, table.clock()),
      pruned: true,
    }));
    return marker;
  };
  const removed = await removeIndexed(table, scope, boundsOf(kind, range), markerOf);
  await sweepLimbo(table, scope);
  return removed.all;
}

export async function forgetIds(
  table: MemoryTable,
  scope: MemoryScope,
  kind: RecordKind,
  ids: readonly string[],
  moment: Moment,
): Promise<number> {
  const marker = forgetMarker({ horizon: moment.arrivals }, table.clock());
  const rows = await getRows(table, scope, kind, ids);
  const removed = await removeRows(
    table,
    scope,
    rows.filter(({ place }) => place !== ''),
    async () => marker,
  );
  await sweepLimbo(table, scope);
  return removed.visible;
}

interface Bounds {
  readonly first: string;
  readonly last: string;
}

function boundsOf(kind: RecordKind, range: TimeRange): Bounds {
  const { first, last } = placesOf(range);
  return { first: recordPlace(kind, first), last: recordPlace(kind, last) };
}

/**
 * Records that a call removed: all that were in place, and those of them that a reader could still see. The others had
 * expired: DynamoDB takes its time to delete them.
 */
interface Removed {
  readonly all: number;
  readonly visible: number;
}

/**
 * What has been in limbo for so long that nobody is at work on it any more; and at once the rows of what another call
 * has begun to remove, which may have died of it.
 */
async function sweepLimbo(table: MemoryTable, scope: MemoryScope): Promise<void> {
  const abandoned = limboPlace(table.clock().getTime() - abandonedAfterMs);
  const bounds = { first: limboPlace(0), last: 'limbo/:', attributes: removalAttributes };
  for await (const rows of indexPages(table, scope, bounds)) {
    const old = rows.filter(({ place }) => place <= abandoned);
    const begun = rows.filter(({ place, dead }) => place > abandoned && dead.length > 0);
    await removeRows(table, scope, [...old, ...begun.map((row) => ({ ...row, sets: [] }))], async (row) =>
      markerLeftIn(row),
    );
  }
}

/** An abandoned item keeps the marker that it had. */
function markerLeftIn({ fence, fencedUntil, gone }: RecordRow): Marker | undefined {
  if (fence === undefined || fencedUntil === undefined) return undefined;
  return { horizon: fence, until: fencedUntil, compacted: gone?.compacted, pruned: gone?.pruned };
}

async function removeIndexed(
  table: MemoryTable,
  scope: MemoryScope,
  bounds: Bounds,
  markerOf: (row: RecordRow) => Promise<Marker | undefined>,
): Promise<Removed> {
  let [all, visible] = [0, 0];
  for await (const rows of indexPages(table, scope, { ...bounds, attributes: removalAttributes })) {
    const removed = await removeRows(table, scope, rows, markerOf);
    all += removed.all;
    visible += removed.visible;
  }
  return { all, visible };
}

/** After a failure it waits for what is under way before it rejects. */
export async function removeRows(
  table: MemoryTable,
  scope: MemoryScope,
  rows: readonly RecordRow[],
  markerOf: (row: RecordRow) => Promise<Marker | undefined>,
): Promise<Removed> {
  let [all, visible] = [0, 0];
  await forEachSettled(rows, memoryConcurrency, async (row) => {
    if (!(await removeRecord(table, scope, row, markerOf)) || isInLimbo(row)) return;
    all++;
    if (isVisible(row, table.clock())) visible++;
  });
  return { all, visible };
}

/**
 * Removes what was stored in the session's partition by calls that began before.
 * 1. the forget takes its place in the order of calls, 2. it fences what calls under way are about to write, 3. it goes
 * over the partition until it finds nothing but markers: another remover may have been at work on a record, and have
 * left what is to go as well. The clock stays, and expires.
 */
export async function forgetScope(table: MemoryTable, scope: MemoryScope): Promise<number> {
  const forget = await beginForget(table, scope, { ofAll: true });
  await fenceUnderWay(table, scope, forget, { records: 'and values' });
  const marker = forgetMarker(forget, table.clock());
  const isOlder = ({ arrival = 0 }: RecordRow) => arrival < forget.horizon;
  let messages = 0;
  for (let attempt = 0; attempt < raceAttempts; attempt++) {
    let found = 0;
    for await (const rows of partitionPages(table, scope)) {
      const stored = rows.filter((row) => row.place !== '' && isOlder(row));
      const ofMessages = stored.filter(({ sk }) => kindOf(sk) === 'message');
      messages += (await removeRows(table, scope, ofMessages, async () => marker)).visible;
      const ofCapsules = stored.filter(({ sk }) => kindOf(sk) === 'capsule');
      await removeRows(table, scope, ofCapsules, async () => marker);
      const telling = rows.filter((row) => row.place === '' && isTelling(row) && isOlder(row));
      await forEachSettled(telling, memoryConcurrency, (row) => replaceByMarker(table, scope, row, marker));
      const requests = rows.filter(({ sk }) => sk.startsWith('request/'));
      await forEachSettled(requests, memoryConcurrency, ({ sk }) => deleteItem(table, scope, sk));
      found += stored.length + telling.length + requests.length;
    }
    if (found === 0) return messages;
  }
  throw new UnavailableError('others went on storing in the session, again and again');
}

/** A value, or a marker that says something of a content. */
function isTelling({ hasInfo, gone }: RecordRow): boolean {
  return hasInfo || gone?.compacted !== undefined;
}

async function* partitionPages(table: MemoryTable, scope: MemoryScope): AsyncGenerator<RecordRow[]> {
  const parts = new ExpressionParts();
  const query = {
    TableName: table.tableName,
    KeyConditionExpression: `pk = ${parts.value({ S: memoryPartition(scope) })}`,
    ProjectionExpression: removalAttributes.map((name) => parts.name(name)).join(', '),
    ...parts.attributes,
  };
  for await (const items of queryPages(table.client, query)) yield items.map(parseRecord);
}
