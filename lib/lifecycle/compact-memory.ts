import pMap from 'p-map';
import { compactionMaxMessages, memoryConcurrency } from '../defaults.ts';
import { DormouseError } from '../errors.ts';
import type { AgentMemory, CapsulePage } from '../memory/agent-memory.ts';
import { everyRecord } from '../memory/every-record.ts';
import { IdConflictError, InvalidInputError } from '../memory/memory-error.ts';
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
  /** Another compaction of the same messages was faster; this one has changed nothing. */
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
 * 1. read the last capsule, and finish the removal of what it covers if that was interrupted, 2. read the messages that
 * are due, 3. have them summarised, 4. store the capsule under the number after the last one's, 5. remove exactly the
 * messages that it names. Nothing is removed before 4 has succeeded; of two compactions at once, 4 lets one through; a
 * message that comes meanwhile is not named, and stays; a crash after 4 is finished by the next compaction, in 1.
 *
 * Rejects what `summarize` throws, and `EmptySummaryError`, with everything as it was.
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

  const last = await lastCompaction(memory);
  if (last !== undefined) await finishRemoval(memory, last.capsule);
  const messages = await messagesDue(memory, { to, maxMessages, covered: coveredBy(last?.capsule) });
  if (messages.length === 0) return { status: 'nothing_due' };

  const summary = await summarize({ messages, previous: last?.capsule, signal, chat });
  if (isEmptySummary(summary)) throw new EmptySummaryError();
  // Whoever called this off has been told that it failed: nothing may change after that.
  signal?.throwIfAborted();

  const capsule = memory.capsuleFromWindow(messages, summary, last?.capsule);
  const id = compactionId((last?.number ?? 0) + 1);
  try {
    await memory.storeCapsule({ ...capsule, id });
  } catch (error) {
    if (error instanceof IdConflictError) return { status: 'overtaken' };
    throw error;
  }
  return { status: 'compacted', capsuleId: id, removed: await removeCovered(memory, capsule.messageIds) };
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

function compactionNumber(id: string): number {
  return Number(/^compaction-(\d+)$/.exec(id)?.[1] ?? 0);
}

/** The first message is removed last: as long as it is there, others may be too. */
async function removeCovered(memory: AgentMemory, [first, ...others]: readonly string[]): Promise<number> {
  const { store, scope } = memory;
  const removed = await store.forgetIds(scope, 'message', others);
  return removed + (first === undefined ? 0 : await store.forgetIds(scope, 'message', [first]));
}

/** The id of a message that was removed is free: under it another one may have come since, with a later time. */
function coveredBy(capsule: Capsule | undefined): (record: StoredRecord) => boolean {
  if (capsule === undefined) return () => false;
  const [ids, to] = [new Set(capsule.messageIds), Date.parse(capsule.to)];
  return ({ id, at }) => ids.has(id) && at <= to;
}

async function finishRemoval(memory: AgentMemory, capsule: Capsule): Promise<void> {
  const { store, scope } = memory;
  const [first = '', ...others] = capsule.messageIds;
  const isCovered = coveredBy(capsule);
  const found = first === '' ? undefined : await store.get(scope, 'message', first);
  if (found === undefined || !isCovered(found)) return;
  const records = await pMap(others, (id) => store.get(scope, 'message', id), {
    concurrency: memoryConcurrency,
  });
  const left = records.filter((record) => record !== undefined).filter(isCovered);
  await removeCovered(memory, [first, ...left.map(({ id }) => id)]);
}

async function messagesDue(
  memory: AgentMemory,
  {
    to,
    maxMessages,
    covered,
  }: { to: number; maxMessages: number; covered: (record: StoredRecord) => boolean },
): Promise<Message[]> {
  const due: Message[] = [];
  for await (const records of everyRecord(memory, 'message', { to })) {
    const fresh = records.filter((record) => !covered(record)).slice(0, maxMessages - due.length);
    due.push(...(await Promise.all(fresh.map(unpackMessage))));
    if (due.length >= maxMessages) break;
  }
  return due;
}
