import { compactionMaxMessages } from '../defaults.ts';
import { DormouseError, InvalidInputError } from '../errors.ts';
import type { AgentMemory } from '../memory/agent-memory.ts';
import type { Capsule, Message } from '../memory/message.ts';
import { parseTimestamp, type Timestamp } from '../memory/timestamp.ts';
import type { ChatOptions } from './chat-options.ts';
import { finishRemoval, messagesDue, startCompaction, storeCompaction } from './compaction.ts';
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

  const start = await startCompaction(memory);
  const previous = start.last?.capsule;
  if (previous !== undefined) await finishRemoval(memory, previous);
  const messages = await messagesDue(memory, start, { to, maxMessages });
  if (messages.length === 0) return { status: 'nothing_due' };

  const summary = await summarize({ messages, previous, signal, chat });
  if (isEmptySummary(summary)) throw new EmptySummaryError();
  // Whoever called this off has been told that it failed: nothing may change after that.
  signal?.throwIfAborted();

  const stored = await storeCompaction(memory, start, messages, summary);
  if (stored === undefined) return { status: 'overtaken' };
  return { status: 'compacted', capsuleId: stored.capsule.id, removed: stored.removed };
}
