import pMap from 'p-map';
import { compactionMaxMessages, memoryConcurrency } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import { checkName } from '../input.ts';
import type { AgentMemory } from '../memory/agent-memory.ts';
import { digestOf } from '../memory/digest.ts';
import type { Moment, StoredRecord } from '../memory/memory-store.ts';
import type { Capsule, Message } from '../memory/message.ts';
import { isSameDigest, unpackMessage } from '../memory/message-codec.ts';
import { EmptySummaryError } from './compact-memory.ts';
import {
  type CompactionStart,
  compactionId,
  compactionNumber,
  finishRemoval,
  isFresh,
  messagesDue,
  startCompaction,
  storeCompaction,
} from './compaction.ts';
import { isEmptySummary } from './empty-summary.ts';
import { compactionCutoff } from './stale.ts';

/*
 * The two halves of `compactMemory`, for those who summarise elsewhere: in another process, in another language.
 */

export interface DueWindow {
  /** What a compaction would take in now, oldest first; none where nothing is due. */
  readonly messages: readonly Message[];
  /** The capsule that the next one builds on. */
  readonly previous: Capsule | undefined;
  /** When both were read. */
  readonly moment: Moment;
}

/** The window that `compactMemory` would have summarised now. Changes nothing. */
export async function windowDue(memory: AgentMemory): Promise<DueWindow> {
  const start = await startCompaction(memory);
  const cutoff = compactionCutoff(memory.policy, memory.clock());
  const messages =
    cutoff === undefined
      ? []
      : await messagesDue(memory, start, { to: cutoff.getTime(), maxMessages: compactionMaxMessages });
  return { messages, previous: start.last?.capsule, moment: start.moment };
}

export interface SummarizedWindow {
  /** The messages that were summarised, in any order: 1 to 200. */
  readonly messageIds: readonly string[];
  readonly summary: unknown;
  /** The capsule that the summary builds on: the last one of a compaction, undefined where there was none. */
  readonly previousId?: string | undefined;
  /**
   * When the messages were read. Without it, now: then a message that was forgotten, and remembered anew under its id,
   * while the summary was written, is taken for the one that was summarised.
   */
  readonly moment?: Moment | undefined;
}

export type WindowResult =
  | { readonly status: 'compacted'; readonly capsule: Capsule }
  /** Others were faster, as in `CompactionResult`; nothing was changed. `reason` is a clause for people. */
  | { readonly status: 'overtaken'; readonly reason: string };

/**
 * Replaces exactly these messages by one capsule, under the laws of `compactMemory`: all of them must still be there, as
 * they were at the moment, and `previousId` the last capsule. The same call again, also after later compactions, finishes
 * the removal where it was interrupted and resolves the capsule that it had stored.
 *
 * Rejects `InvalidInputError`, `EmptySummaryError` and `SessionNotFoundError`, with everything as it was.
 */
export async function compactWindow(memory: AgentMemory, given: SummarizedWindow): Promise<WindowResult> {
  const window = { ...given, messageIds: checkIds(given.messageIds) };
  if (window.previousId !== undefined) checkName('previous', window.previousId);
  if (isEmptySummary(window.summary)) throw new EmptySummaryError();

  const start = await startCompaction(memory);
  const reason = await compactFrom(memory, start, window);
  if (typeof reason !== 'string') return { status: 'compacted', capsule: reason };
  // What stands in the way may be what this very call had stored, whose answer was lost.
  const own = await ownCapsule(memory, window);
  if (own === undefined) return { status: 'overtaken', reason };
  await finishRemoval(memory, own);
  return { status: 'compacted', capsule: own };
}

/** The capsule, or why there is none. */
async function compactFrom(
  memory: AgentMemory,
  { moment: now, last }: CompactionStart,
  { messageIds, summary, previousId, moment = now }: SummarizedWindow,
): Promise<Capsule | string> {
  if (last?.capsule.id !== previousId) {
    const shown = last === undefined ? 'there is none' : `the last one is ${last.capsule.id}`;
    return previousId === undefined
      ? `the summary builds on no capsule, but ${shown}`
      : `the summary builds on the capsule ${previousId}, but ${shown}`;
  }
  if (last !== undefined) await finishRemoval(memory, last.capsule);
  const start = { moment, last };
  const records = await pMap(messageIds, (id) => memory.store.get(memory.scope, 'message', id), {
    concurrency: memoryConcurrency,
  });
  const isThere = isFresh(start);
  const found = records.filter((record): record is StoredRecord => record !== undefined && isThere(record));
  const missing = messageIds.find((id) => !found.some((record) => record.id === id));
  if (missing !== undefined) return `the message ${missing} is not there, or not any more`;

  const inOrder = found.sort((a, b) => a.at - b.at || a.arrival - b.arrival);
  const messages = await Promise.all(inOrder.map(unpackMessage));
  const stored = await storeCompaction(memory, start, messages, summary);
  return stored?.capsule ?? 'another compaction was faster, or something of the session was forgotten';
}

/** The capsule that follows the previous one, where it is this window's: its number tells which one that would be. */
async function ownCapsule(
  memory: AgentMemory,
  { messageIds, summary, previousId }: SummarizedWindow,
): Promise<Capsule | undefined> {
  const capsule = await memory.getCapsule(compactionId(compactionNumber(previousId ?? '') + 1));
  if (capsule === undefined || capsule.previousId !== (previousId ?? null)) return undefined;
  const isOwn =
    isSameDigest(digestOf(new Set(capsule.messageIds)), digestOf(new Set(messageIds))) &&
    isSameDigest(digestOf(capsule.summary), digestOf(summary));
  return isOwn ? capsule : undefined;
}

function checkIds(given: unknown): readonly string[] {
  if (!Array.isArray(given) || given.length < 1 || given.length > compactionMaxMessages)
    throw new InvalidInputError('messageIds', `must be an array of 1 to ${compactionMaxMessages} ids`);
  const ids = Array.from(given, (id: unknown, index) => checkName(`messageIds[${index}]`, id));
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (twice !== -1) throw new InvalidInputError(`messageIds[${twice}]`, 'is there twice');
  return ids;
}
