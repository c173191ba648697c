import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs, lanesMax, wideIntentBytes } from '../../defaults.ts';
import { ForgottenMeanwhileError } from '../../errors.ts';
import type { AppendRequest, MemoryScope, Moment } from '../../memory/memory-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { isConditionFailure } from '../translate-error.ts';
import { inADay, momentOf } from './clock.ts';
import { clockKey } from './keys.ts';
import { intentOf, intentsOf, type Lane, type MemoryTable } from './lanes.ts';

/** A call's turn: it is refused where a forget that came after has fenced what it writes (see fence.ts). */
export interface Turn extends Moment {
  readonly lane: Lane | undefined;
  readonly keyBytes: number;
  /** The session was forgotten, or had no clock before: what that leaves to do once the session is found registered. */
  readonly expires: boolean;
  readonly isFirst: boolean;
}

export interface TurnRequest extends Pick<AppendRequest, 'admit' | 'since'> {
  /** The sort keys that are about to be written. */
  readonly keys: readonly string[];
  /** For how many records numbers are taken. */
  readonly count: number;
}

/**
 * Does a call's work within its turn, once the session is found to admit it: every forget that comes meanwhile knows
 * what the work is about to write.
 *
 * @throws ForgottenMeanwhileError when something of the session was forgotten after `since`
 */
export async function inTurn<Result>(
  table: MemoryTable,
  scope: MemoryScope,
  request: TurnRequest,
  work: (turn: Turn) => Promise<Result>,
): Promise<Result> {
  const turn = await takeTurn(table, scope, request);
  let certain = false;
  try {
    await admitted(table, scope, turn, request.admit);
    const result = await work(turn);
    certain = true;
    return result;
  } finally {
    await endTurn(table, scope, turn, certain);
  }
}

/**
 * Takes numbers for `count` records, and says that these sort keys are about to be written.
 *
 * @throws ForgottenMeanwhileError when something of the session was forgotten after `since`
 */
export async function takeTurn(
  table: MemoryTable,
  scope: MemoryScope,
  { keys, count, since }: TurnRequest,
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
async function endTurn(table: MemoryTable, scope: MemoryScope, turn: Turn, certain: boolean) {
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
async function admitted(
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

function unforgottenSince({ forgets }: Moment, parts: ExpressionParts): string {
  const same = `forgets = ${parts.value({ N: String(forgets) })}`;
  return forgets === 0 ? `attribute_not_exists(forgets) OR ${same}` : same;
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
