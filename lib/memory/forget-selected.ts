import type { Forgotten, MessageSelection } from './agent-memory.ts';
import { everyRecord } from './every-record.ts';
import { type CapsuleChain, readChain } from './lineage.ts';
import type { MemoryContext } from './memory-context.ts';
import type { Moment } from './memory-store.ts';
import { type Message, sourceIdOf } from './message.ts';
import { unpackMessage } from './message-codec.ts';
import { parseTimestamp } from './timestamp.ts';

/**
 * Removes a range of messages, or those for which a predicate holds. Capsules made of them stand for other messages too:
 * they stay and are counted, or go with all that builds on them.
 * 1. take a place in the order of calls, 2. remove the capsules that cover the range, where asked, which would outlive
 * their messages, 3. remove the messages, 4. the same with capsules made of what a predicate chose, 5. count.
 */
export async function forgetMessages(
  context: MemoryContext,
  selection: MessageSelection,
  { capsules = 'keep' }: { readonly capsules?: 'keep' | 'forget' | undefined } = {},
): Promise<Forgotten> {
  const { store, scope } = context;
  if ('where' in selection) {
    const moment = await store.beginForget(scope);
    const ids = new Set<string>();
    const deleted = await forgetWhere(context, selection.where, moment, ids);
    const holds: Holds = ({ messageIds }) => messageIds.some((id) => ids.has(id));
    const removed = capsules === 'forget' && (await forgetCapsules(context, moment, holds));
    return { deleted, capsules: removed ? 0 : (await holding(await readChain(context), holds)).size };
  }
  const range = { from: parseTimestamp(selection.from, 'start'), to: parseTimestamp(selection.to, 'end') };
  const moment = await store.beginForget(scope);
  const holds: Holds = ({ from, to }) => Date.parse(from) <= range.to && Date.parse(to) >= range.from;
  if (capsules === 'forget') await forgetCapsules(context, moment, holds);
  const deleted = await store.forgetRange(scope, 'message', range, moment);
  return { deleted, capsules: (await holding(await readChain(context), holds)).size };
}

type Holds = (capsule: CapsuleChain['capsules'][number]) => boolean;

/** The capsules that were made of what is forgotten, and those that build on them. */
async function holding(chain: CapsuleChain, holds: Holds): Promise<Set<string>> {
  const direct = new Set(chain.capsules.filter(holds).map(({ id }) => id));
  if (direct.size === 0) return direct;
  const all = await chain.builtOn((_, id) => direct.has(id));
  return new Set(chain.capsules.map(({ id }) => id).filter((id) => all.has(id)));
}

async function forgetCapsules(context: MemoryContext, moment: Moment, holds: Holds): Promise<boolean> {
  const chain = await readChain(context);
  const ids = await holding(chain, holds);
  if (ids.size === 0) return true;
  await context.store.forgetIds(context.scope, 'capsule', [...ids], moment);
  await chain.forget(ids);
  return true;
}

/** Removes page by page what the predicate holds for. */
async function forgetWhere(
  context: MemoryContext,
  predicate: (message: Message) => boolean | Promise<boolean>,
  moment: Moment,
  forgotten: Set<string> = new Set(),
): Promise<number> {
  let removed = 0;
  for await (const records of everyRecord(context, 'message')) {
    const ids: string[] = [];
    for (const record of records) if (await predicate(await unpackMessage(record))) ids.push(record.id);
    if (ids.length > 0) removed += await context.store.forgetIds(context.scope, 'message', ids, moment);
    for (const id of ids) forgotten.add(id);
  }
  return removed;
}

/**
 * 1. remove the capsules made with the source, and those that build on them, which would outlive their messages,
 * 2. remove the messages, 3. remove what was kept of capsules that are gone.
 */
export async function forgetSource(context: MemoryContext, sourceId: string): Promise<number> {
  const { store, scope } = context;
  const moment = await store.beginForget(scope);
  const chain = await readChain(context);
  const tainted = await chain.builtOn(({ sourceIds }) => sourceIds.includes(sourceId));
  const ids = chain.capsules.map(({ id }) => id).filter((id) => tainted.has(id));
  let removed = ids.length > 0 ? await store.forgetIds(scope, 'capsule', ids, moment) : 0;
  removed += await forgetWhere(context, (message) => sourceIdOf(message) === sourceId, moment);
  await chain.forget(tainted);
  return removed;
}
