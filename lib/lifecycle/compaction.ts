import { compactionMaxBytes } from '../defaults.ts';
import { ForgottenMeanwhileError, IdConflictError } from '../errors.ts';
import type { AgentMemory, CapsulePage } from '../memory/agent-memory.ts';
import { everyRecord } from '../memory/every-record.ts';
import type { Moment, StoredRecord } from '../memory/memory-store.ts';
import type { Capsule, Message } from '../memory/message.ts';
import { unpackMessage } from '../memory/message-codec.ts';

export const compactionId = (number: number) => `compaction-${number}`;

/** What a compaction goes by. */
export interface CompactionStart {
  /** Messages that arrive after it are left to the next compaction. */
  readonly moment: Moment;
  /** The last capsule that a compaction made, and its number. */
  readonly last: { readonly capsule: Capsule; readonly number: number } | undefined;
}

/** 1. take note of the moment, 2. read the last capsule. */
export async function startCompaction(memory: AgentMemory): Promise<CompactionStart> {
  const moment = await memory.store.moment(memory.scope);
  return { moment, last: await lastCompaction(memory) };
}

/** What a compaction may take in: what arrives after its moment would not be removed, and be summarised again. */
export function isFresh({ moment, last }: CompactionStart): (record: StoredRecord) => boolean {
  const isCovered = coveredBy(last?.capsule);
  return (record) => record.arrival <= moment.arrivals && !isCovered(record);
}

/**
 * Stores the capsule of these messages under the number after the last one's, and removes exactly them. Resolves
 * undefined, with nothing changed, where another compaction was faster or something of the session has been forgotten
 * since the moment. Nothing is removed before the capsule is stored.
 */
export async function storeCompaction(
  memory: AgentMemory,
  { moment, last }: CompactionStart,
  messages: readonly Message[],
  summary: unknown,
): Promise<{ capsule: Capsule; removed: number } | undefined> {
  const id = compactionId((last?.number ?? 0) + 1);
  const window = memory.capsuleFromWindow(messages, summary, last?.capsule);
  let capsule: Capsule;
  try {
    capsule = await memory.storeCapsule({ ...window, id, horizon: moment.arrivals }, { since: moment });
  } catch (error) {
    if (error instanceof IdConflictError || error instanceof ForgottenMeanwhileError) return undefined;
    throw error;
  }
  return { capsule, removed: await removeCovered(memory, window.messageIds, moment.arrivals) };
}

/**
 * The last capsule that a compaction made; there may be others, which it does not build on. It is among the newest few,
 * though not the very newest where the clocks of two machines differ.
 */
async function lastCompaction(memory: AgentMemory): Promise<CompactionStart['last']> {
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
export function compactionNumber(id: string): number {
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

/** Removes what the capsule covers and is still there: whoever had stored it was interrupted. */
export async function finishRemoval(memory: AgentMemory, capsule: Capsule): Promise<void> {
  const { store, scope } = memory;
  const [first = ''] = capsule.messageIds;
  if (first === '' || capsule.horizon === undefined) return;
  const found = await store.get(scope, 'message', first);
  if (found === undefined || !coveredBy(capsule)(found)) return;
  await removeCovered(memory, capsule.messageIds, capsule.horizon);
}

/** The oldest messages up to and including a moment, as many as one compaction takes in. */
export async function messagesDue(
  memory: AgentMemory,
  start: CompactionStart,
  { to, maxMessages }: { readonly to: number; readonly maxMessages: number },
): Promise<Message[]> {
  const isDue = isFresh(start);
  const due: Message[] = [];
  let bytes = 0;
  for await (const records of everyRecord(memory, 'message', { to })) {
    for (const record of records) {
      if (!isDue(record)) continue;
      bytes += record.dump.bytes;
      // The window of a session with large messages is shorter: a worker holds those of several sessions.
      if (due.length > 0 && bytes > compactionMaxBytes) return due;
      due.push(await unpackMessage(record));
      if (due.length >= maxMessages) return due;
    }
  }
  return due;
}
