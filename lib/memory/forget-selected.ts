import { InvalidInputError } from '../errors.ts';
import { checkFields, fieldsOf } from '../input.ts';
import type { Forgotten, MessageSelection } from './agent-memory.ts';
import { everyRecord } from './every-record.ts';
import { type CapsuleChain, readChain } from './lineage.ts';
import type { MemoryContext } from './memory-context.ts';
import type { Moment } from './memory-store.ts';
import { type Message, sourceIdOf } from './message.ts';
import { unpackMessage } from './message-codec.ts';
import { parseTimestamp } from './timestamp.ts';

interface ForgetMessagesOptions {
  readonly capsules?: 'keep' | 'forget' | undefined;
}

const optionNames = fieldsOf<ForgetMessagesOptions>()({ capsules: 1 });

/**
 * Removes a range of messages, or those for which a predicate holds. Capsules made of them stand for other messages too:
 * they stay and are counted, or go with all that builds on them.
 * 1. take a place in the order of calls, 2. where asked, remove the capsules, which would outlive their messages,
 * 3. remove the messages, 4. take a place again: what began since 1 may have read the messages before they went, 5. remove
 * the capsules that came of that, or count all.
 */
export async function forgetMessages(
  context: MemoryContext,
  selection: MessageSelection,
  options: ForgetMessagesOptions = {},
): Promise<Forgotten> {
  checkFields('options', options, optionNames);
  const { capsules = 'keep' } = options;
  if (capsules !== 'keep' && capsules !== 'forget')
    throw new InvalidInputError('capsules', "must be 'keep' or 'forget'");
  const { store, scope } = context;
  const chosen = await choose(context, selection);
  const moment = await store.beginForget(scope);
  if (capsules === 'forget') await forgetCapsules(context, moment, chosen.holds);
  const deleted = await chosen.forget(moment);
  const end = await store.beginForget(scope);
  if (capsules === 'forget') await forgetCapsules(context, end, chosen.holds);
  return { deleted, capsules: (await holding(await readChain(context), chosen.holds)).size };
}

interface Chosen {
  readonly holds: Holds;
  readonly forget: (moment: Moment) => Promise<number>;
}

async function choose(context: MemoryContext, selection: MessageSelection): Promise<Chosen> {
  const { store, scope } = context;
  const isPredicate = typeof selection === 'object' && selection !== null && 'where' in selection;
  // A range and a predicate at once would be one of the two.
  checkFields('selection', selection, isPredicate ? ['where'] : ['from', 'to']);
  if (isPredicate) {
    if (typeof selection.where !== 'function') throw new InvalidInputError('where', 'must be a function');
    const ids = await idsWhere(context, selection.where);
    const all = new Set(ids);
    return {
      holds: ({ messageIds }) => messageIds.some((id) => all.has(id)),
      forget: (moment) => store.forgetIds(scope, 'message', ids, moment),
    };
  }
  const range = { from: parseTimestamp(selection.from, 'start'), to: parseTimestamp(selection.to, 'end') };
  return {
    holds: ({ from, to }) => Date.parse(from) <= range.to && Date.parse(to) >= range.from,
    forget: (moment) => store.forgetRange(scope, 'message', range, moment),
  };
}

type Holds = (capsule: CapsuleChain['capsules'][number]) => boolean;

/** The capsules that were made of what is forgotten, and those that build on them. */
async function holding(chain: CapsuleChain, holds: Holds): Promise<Set<string>> {
  const direct = new Set(chain.capsules.filter(holds).map(({ id }) => id));
  if (direct.size === 0) return direct;
  const all = await chain.builtOn((_, id) => direct.has(id));
  return new Set(chain.capsules.map(({ id }) => id).filter((id) => all.has(id)));
}

async function forgetCapsules(context: MemoryContext, moment: Moment, holds: Holds): Promise<number> {
  const chain = await readChain(context);
  return removeCapsules(context, chain, await holding(chain, holds), moment);
}

/** Messages that a removed capsule stood for are known no more: sent again they are new ones. */
async function removeCapsules(
  { store, scope }: MemoryContext,
  chain: CapsuleChain,
  ids: ReadonlySet<string>,
  moment: Moment,
): Promise<number> {
  const capsules = chain.capsules.filter(({ id }) => ids.has(id));
  const named = capsules.map(({ id }) => id);
  const removed = named.length > 0 ? await store.forgetIds(scope, 'capsule', named, moment) : 0;
  for (const { messageIds } of capsules) await store.releaseCompacted(scope, messageIds, moment);
  await chain.forget(ids);
  return removed;
}

async function idsWhere(
  context: MemoryContext,
  predicate: (message: Message) => boolean | Promise<boolean>,
): Promise<string[]> {
  const ids: string[] = [];
  for await (const records of everyRecord(context, 'message'))
    for (const record of records) if (await predicate(await unpackMessage(record))) ids.push(record.id);
  return ids;
}

/**
 * 1. take a place in the order of calls, 2. remove the capsules made with the source, and those that build on them, which
 * would outlive their messages, 3. remove the messages, 4. take a place again, as above, 5. remove the capsules that were
 * made meanwhile.
 */
export async function forgetSource(context: MemoryContext, sourceId: string): Promise<number> {
  const { store, scope } = context;
  const forgetTainted = async (moment: Moment) => {
    const chain = await readChain(context);
    const tainted = await chain.builtOn(({ sourceIds }) => sourceIds.includes(sourceId));
    return removeCapsules(context, chain, tainted, moment);
  };
  const moment = await store.beginForget(scope);
  let removed = await forgetTainted(moment);
  const ids = await idsWhere(context, (message) => sourceIdOf(message) === sourceId);
  if (ids.length > 0) removed += await store.forgetIds(scope, 'message', ids, moment);
  return removed + (await forgetTainted(await store.beginForget(scope)));
}
