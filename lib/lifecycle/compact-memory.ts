import { compactionMaxBytes, compactionMaxMessages } from '../defaults.ts';
import { DormouseError } from '../errors.ts';
import type { AgentMemory, CapsulePage } from '../memory/agent-memory.ts';
import { everyRecord } from '../memory/every-record.ts';
import { ForgottenMeanwhileError, IdConflictError, InvalidInputError } from '../memory/memory-error.ts';
import type { StoredRecord } from '../memory/memory-store.ts';
import type { Capsule, Message } from '../memory/message.ts';
import { unpackMessage } from '../memory/message-codec.ts';
import { parseTimestamp, type Timestamp } from '../memory/timestamp.ts';
import type { ChatOptions } from './chat-options.ts';
import { isEmptySummary } from './empty-summary.ts';
import { compactionCutoff } from './stale.ts';

export interface CompactionWindow {
  /** The messages to summarise, oldest first; at least one. */
  readonly messages: readonly Message[];
  /** The capsule of the last compaction: the new summary replaces it, and must hold what is still worth knowing of it. */
  readonly previous: Capsule | undefined;
  readonly signal: AbortSignal | undefined;
  readonly chat: ChatOptions;
}

/** Makes a summary of any kind that memory can hold, with a model or without. */
export type Summarize = (window: CompactionWindow) => unknown;

export interface CompactionOptions {
  /** Messages up to and including this moment are due; as the policy says unless given. */
  readonly until?: Timestamp | undefined;
  /** How many messages one capsule takes in at the most; 200 unless given. */
  readonly maxMessages?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly chat?: ChatOptions | undefined;
}

export type CompactionResult =
  | { readonly status: 'compacted'; readonly capsuleId: string; readonly removed: number }
  | { readonly status: 'nothing_due' }
  /**
   * Another compaction of the same messages was faster, or something of the session was forgotten meanwhile; this one has
   * changed nothing.
   */
  | { readonly status: 'overtaken' };

/** The summary is empty: what it was to replace has not been touched. */
export class EmptySummaryError extends DormouseError {
  readonly code = 'empty_summary';

  constructor() {
    super('the summary is empty; no message was removed');
  }
}

/**
 * Replaces the raw messages that are due by one capsule, which builds on the capsule before.
 * 1. take note of the moment, 2. read the last capsule, and finish the removal of what it covers if that was interrupted, 3. read the
 * messages that are due, 4. have them summarised, 5. store the capsule under the number after the last one's, unless
 * something of the session has been forgotten since 1, 6. remove exactly the messages that it was made of. Nothing is
 * removed before 5 has succeeded; of two compactions at once, 5 lets one through; a message that comes after 1 is left to
 * the next compaction; a crash after 5 is finished by the next compaction, in 2.
 *
 * Rejects what `summarize` throws, `EmptySummaryError`, and `SessionNotFoundError` when the session is not registered
 * any more, with everything as it was.
 *
 * @example
 * const result = await compactMemory(memory, async ({ messages, previous, chat, signal }) =>
 *   askModel([previous?.summary, ...messages.map(({ content }) => content)], { ...chat, signal }),
 * );
 */
export async function compactMemory(
  memory: AgentMemory,
  summarize: Summarize,
  options: CompactionOptions = {},
): Promise<CompactionResult> {
  const { maxMessages = compactionMaxMessages, signal, chat = {} } = options;
  if (!Number.isSafeInteger(maxMessages) || maxMessages < 1)
    throw new InvalidInputError('maxMessages', 'must be a whole number above 0');
  const to =
    options.until === undefined
      ? compactionCutoff(memory.policy, memory.clock())?.getTime()
      : parseTimestamp(options.until, 'until');
  if (to === undefined) return { status: 'nothing_due' };

  const { store, scope } = memory;
  const moment = await store.moment(scope);
  const last = await lastCompaction(memory);
  if (last !== undefined) await finishRemoval(memory, last.capsule);
  const isCovered = coveredBy(last?.capsule);
  // What arrives after 1 is not removed in 6, and would be summarised again.
  const isFresh = (record: StoredRecord) => record.arrival <= moment.arrivals && !isCovered(record);
  const messages = await messagesDue(memory, { to, maxMessages, isFresh });
  if (messages.length === 0) return { status: 'nothing_due' };

  const summary = await summarize({ messages, previous: last?.capsule, signal, chat });
  if (isEmptySummary(summary)) throw new EmptySummaryError();
  // Whoever called this off has been told that it failed: nothing may change after that.
  signal?.throwIfAborted();

  const capsule = memory.capsuleFromWindow(messages, summary, last?.capsule);
  const id = compactionId((last?.number ?? 0) + 1);
  try {
    await memory.storeCapsule({ ...capsule, id, horizon: moment.arrivals }, { since: moment });
  } catch (error) {
    if (error instanceof IdConflictError || error instanceof ForgottenMeanwhileError)
      return { status: 'overtaken' };
    throw error;
  }
  return {
    status: 'compacted',
    capsuleId: id,
    removed: await removeCovered(memory, capsule.messageIds, moment.arrivals),
  };
}

const compactionId = (number: number) => `compaction-${number}`;

/**
 * The last capsule that a compaction made; there may be others, which it does not build on. It is among the newest few,
 * though not the very newest where the clocks of two machines differ.
 */
async function lastCompaction(
  memory: AgentMemory,
): Promise<{ capsule: Capsule; number: number } | undefined> {
  let after: string | undefined;
  do {
    const page: CapsulePage = await memory.listCapsules({ order: 'desc', after });
    const made = page.items.map((capsule) => ({ capsule, number: compactionNumber(capsule.id) }));
    const last = made.sort((a, b) => b.number - a.number)[0];
    if (last !== undefined && last.number > 0) return last;
    after = page.next;
  } while (after !== undefined);
  return undefined;
}

/** 0 where no compaction has made the capsule: after a number without a successor none could be stored any more. */
function compactionNumber(id: string): number {
  const number = Number(/^compaction-(\d+)$/.exec(id)?.[1] ?? 0);
  return Number.isSafeInteger(number + 1) ? number : 0;
}

/** The first message is removed last: as long as it is there, others may be too. */
async function removeCovered(
  { store, scope }: AgentMemory,
  [first, ...others]: readonly string[],
  horizon: number,
): Promise<number> {
  const moment = { arrivals: horizon };
  const removed = await store.removeCompacted(scope, others, moment);
  return removed + (first === undefined ? 0 : await store.removeCompacted(scope, [first], moment));
}

/** What was summarised for the capsule: what has one of its ids, and had arrived when its messages were read. */
function coveredBy(capsule: Capsule | undefined): (record: StoredRecord) => boolean {
  // A capsule of a release that kept no horizon: rather twice in a summary than in none.
  if (capsule?.horizon === undefined) return () => false;
  const { horizon } = capsule;
  const ids = new Set(capsule.messageIds);
  return ({ id, arrival }) => ids.has(id) && arrival <= horizon;
}

async function finishRemoval(memory: AgentMemory, capsule: Capsule): Promise<void> {
  const { store, scope } = memory;
  const [first = ''] = capsule.messageIds;
  if (first === '' || capsule.horizon === undefined) return;
  const found = await store.get(scope, 'message', first);
  if (found === undefined || !coveredBy(capsule)(found)) return;
  await removeCovered(memory, capsule.messageIds, capsule.horizon);
}

async function messagesDue(
  memory: AgentMemory,
  {
    to,
    maxMessages,
    isFresh,
  }: { to: number; maxMessages: number; isFresh: (record: StoredRecord) => boolean },
): Promise<Message[]> {
  const due: Message[] = [];
  let bytes = 0;
  for await (const records of everyRecord(memory, 'message', { to })) {
    for (const record of records) {
      if (!isFresh(record)) continue;
      bytes += record.dump.bytes;
      // The window of a session with large messages is shorter: a worker holds those of several sessions.
      if (due.length > 0 && bytes > compactionMaxBytes) return due;
      due.push(await unpackMessage(record));
      if (due.length >= maxMessages) return due;
    }
  }
  return due;
}
