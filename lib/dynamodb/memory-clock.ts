import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs, lanesMax, markerSecs, wideIntentBytes } from '../defaults.ts';
import { ForgottenMeanwhileError } from '../memory/memory-error.ts';
import type { MemoryScope, Moment } from '../memory/memory-store.ts';
import { CorruptError } from '../persistence/persistence-error.ts';
import { ExpressionParts } from './expression.ts';
import { clockKey } from './memory-keys.ts';
import { isLane, type Lane, type MemoryTable } from './memory-lanes.ts';
import type { Item } from './snapshot-head.ts';
import { isConditionFailure } from './translate-error.ts';

/*
 * A session's clock is one item: how many records have arrived (`arrivals`), how often something was forgotten
 * (`forgets`), and for each lane of a writer the sort keys that the call in it is about to write (its intent). Every
 * call first takes its turn here, in one update; every forget does too, and gets all intents in the answer. So of a call
 * and a forget one is first, and both know which. The item never starts again at 0 while a late writer may be under way:
 * after a forget of the whole session it stays for a day.
 */

/** A call's turn: it is refused where a forget that came after has fenced what it writes (see memory-fence.ts). */
export interface Turn extends Moment {
  readonly lane: Lane | undefined;
  readonly keyBytes: number;
  /** The session was forgotten, or had no clock before: what that leaves to do once the session is found registered. */
  readonly expires: boolean;
  readonly isFirst: boolean;
}

/**
 * Takes numbers for `count` records, and says that these sort keys are about to be written.
 *
 * @throws ForgottenMeanwhileError when something of the session was forgotten after `since`
 */
export async function takeTurn(
  table: MemoryTable,
  scope: MemoryScope,
  { keys, count, since }: { keys: readonly string[]; count: number; since?: Moment | undefined },
): Promise<Turn> {
  const lane = keys.length > 0 ? table.lanes.take(table.clock()) : undefined;
  const parts = new ExpressionParts();
  const conditions: string[] = [];
  const add = `ADD arrivals ${parts.value({ N: String(count) })}`;
  let set = '';
  if (lane !== undefined) {
    const turn = parts.value({ N: String(lane.turn) });
    set = `SET ${lane.name} = ${parts.value(intentOf(lane, keys, table.clock()))} `;
    conditions.push(`(attribute_not_exists(${lane.name}) OR ${lane.name}.turn <= ${turn})`);
  }
  if (since !== undefined) conditions.push(`(${unforgottenSince(since, parts)})`);
  try {
    const { Attributes = {} } = await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: clockKey(scope),
        UpdateExpression: set + add,
        ...(conditions.length > 0 && { ConditionExpression: conditions.join(' AND ') }),
        ReturnValues: 'ALL_NEW',
        ...parts.attributes,
      }),
    );
    const moment = momentOf(Attributes);
    await trimLanes(table, scope, Attributes);
    return {
      ...moment,
      lane,
      keyBytes: keys.reduce((sum, key) => sum + Buffer.byteLength(key), 0),
      expires: Attributes.ttl !== undefined,
      isFirst: moment.arrivals === count && moment.forgets === 0,
    };
  } catch (error) {
    const refused = isConditionFailure(error);
    if (lane !== undefined) table.lanes.giveBack(lane, refused, table.clock());
    if (refused && since !== undefined) throw new ForgottenMeanwhileError();
    throw error;
  }
}

/**
 * Ends a turn. The intent stays until the next call in its lane, which costs nothing, unless it is large. A call that
 * ended uncertain keeps its lane for as long as a retry of it may come.
 */
export async function endTurn(table: MemoryTable, scope: MemoryScope, turn: Turn, certain: boolean) {
  if (turn.lane === undefined) return;
  if (certain && turn.keyBytes > wideIntentBytes) {
    const parts = new ExpressionParts();
    await quietly(table, scope, {
      update: `REMOVE ${turn.lane.name}`,
      condition: `${turn.lane.name}.turn = ${parts.value({ N: String(turn.lane.turn) })}`,
      parts,
    });
  }
  table.lanes.giveBack(turn.lane, certain, table.clock());
}

/**
 * Asks whether the session may be written to, now that every forget that comes knows of this call. Where it may, its
 * clock is to stay; where it may not, a clock that only this call has made goes by itself.
 */
export async function admitted(
  table: MemoryTable,
  scope: MemoryScope,
  turn: Turn,
  admit: (() => Promise<void>) | undefined,
): Promise<void> {
  try {
    await admit?.();
  } catch (error) {
    await leaveClock(table, scope, turn);
    throw error;
  }
  await keepClock(table, scope, turn);
}

async function keepClock(table: MemoryTable, scope: MemoryScope, turn: Turn): Promise<void> {
  if (!turn.expires) return;
  const parts = new ExpressionParts();
  await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: clockKey(scope),
      UpdateExpression: `REMOVE ${parts.name('ttl')}`,
      ConditionExpression: 'attribute_exists(arrivals)',
      ...parts.attributes,
    }),
  );
}

async function leaveClock(table: MemoryTable, scope: MemoryScope, turn: Turn): Promise<void> {
  if (!turn.isFirst) return;
  const parts = new ExpressionParts();
  await quietly(table, scope, {
    update: `SET ${parts.name('ttl')} = ${parts.value({ N: String(inADay(table.clock())) })}`,
    condition: `arrivals = ${parts.value({ N: String(turn.arrivals) })}`,
    parts,
  });
}

export interface Forget {
  readonly forgets: number;
  /** Calls with a lower number began before this forget, all others after it. */
  readonly horizon: number;
  /** The sort keys that calls which may be under way are about to write. */
  readonly underWay: readonly string[];
}

/** Begins a forget: a moment in the session's order of calls. */
export async function beginForget(
  table: MemoryTable,
  scope: MemoryScope,
  { ofAll }: { ofAll: boolean },
): Promise<Forget> {
  const parts = new ExpressionParts();
  const one = parts.value({ N: '1' });
  const expire = ofAll
    ? `SET ${parts.name('ttl')} = ${parts.value({ N: String(inADay(table.clock())) })} `
    : '';
  const { Attributes = {} } = await table.client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: clockKey(scope),
      UpdateExpression: `${expire}ADD arrivals ${one}, forgets ${one}`,
      ReturnValues: 'ALL_NEW',
      ...parts.attributes,
    }),
  );
  const underWay = intentsOf(Attributes).flatMap(({ keys }) => keys);
  const { arrivals, forgets } = momentOf(Attributes);
  return { horizon: arrivals, forgets, underWay: [...new Set(underWay)] };
}

export async function readMoment(table: MemoryTable, scope: MemoryScope): Promise<Moment> {
  const { Item = {} } = await table.client.send(
    new GetItemCommand({
      TableName: table.tableName,
      Key: clockKey(scope),
      ProjectionExpression: 'arrivals, forgets',
      ConsistentRead: true,
    }),
  );
  return momentOf(Item);
}

function momentOf(item: Item): Moment {
  return { arrivals: numberOf(item.arrivals?.N ?? '0'), forgets: numberOf(item.forgets?.N ?? '0') };
}

export function numberOf(text: string | undefined): number {
  const value = Number(text ?? Number.NaN);
  if (!Number.isSafeInteger(value)) throw new CorruptError('an item that orders the memory has no number');
  return value;
}

export function inADay(now: Date): number {
  return Math.floor(now.getTime() / 1000) + markerSecs;
}

function unforgottenSince({ forgets }: Moment, parts: ExpressionParts): string {
  const same = `forgets = ${parts.value({ N: String(forgets) })}`;
  return forgets === 0 ? `attribute_not_exists(forgets) OR ${same}` : same;
}

function intentOf(lane: Lane, keys: readonly string[], now: Date) {
  const at = { N: String(now.getTime()) };
  return { M: { keys: { SS: [...keys] }, turn: { N: String(lane.turn) }, at } };
}

interface Intent {
  readonly lane: string;
  readonly keys: readonly string[];
  readonly turn: string;
  readonly at: number;
}

function intentsOf(item: Item): Intent[] {
  return Object.entries(item)
    .filter(([name]) => isLane(name))
    .map(([lane, { M = {} }]) => ({
      lane,
      keys: M.keys?.SS ?? [],
      turn: M.turn?.N ?? '0',
      at: Number(M.at?.N ?? 0),
    }));
}

/** Many writers, as many short-lived processes are, leave their last intents behind. */
async function trimLanes(table: MemoryTable, scope: MemoryScope, item: Item): Promise<void> {
  const intents = intentsOf(item);
  if (intents.length <= lanesMax) return;
  const oldest = table.clock().getTime() - abandonedAfterMs;
  const abandoned = intents.filter(({ at }) => at < oldest).slice(0, lanesMax);
  if (abandoned.length === 0) return;
  const parts = new ExpressionParts();
  await quietly(table, scope, {
    update: `REMOVE ${abandoned.map(({ lane }) => lane).join(', ')}`,
    condition: abandoned.map(({ lane, turn }) => `${lane}.turn = ${parts.value({ N: turn })}`).join(' AND '),
    parts,
  });
}

/** Only tidies up: what it would have removed stays, and is harmless. */
async function quietly(
  table: MemoryTable,
  scope: MemoryScope,
  { update, condition, parts }: { update: string; condition: string; parts: ExpressionParts },
): Promise<void> {
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: clockKey(scope),
        UpdateExpression: update,
        ConditionExpression: condition,
        ...parts.attributes,
      }),
    );
  } catch {
    // See above.
  }
}
