import { everyRecord } from './every-record.ts';
import type { MemoryContext } from './memory-context.ts';
import { type Message, sourceIdOf } from './message.ts';
import { unpackCapsule, unpackMessage } from './message-codec.ts';

/** Removes page by page what the predicate holds for. */
export async function forgetWhere(
  context: MemoryContext,
  predicate: (message: Message) => boolean | Promise<boolean>,
): Promise<number> {
  let removed = 0;
  for await (const records of everyRecord(context, 'message')) {
    const ids: string[] = [];
    for (const record of records) if (await predicate(await unpackMessage(record))) ids.push(record.id);
    if (ids.length > 0) removed += await context.store.forgetIds(context.scope, 'message', ids);
  }
  return removed;
}

/** 1. remove the capsules made with the source, which would outlive their messages, 2. remove the messages. */
export async function forgetSource(context: MemoryContext, sourceId: string): Promise<number> {
  let removed = 0;
  for await (const records of everyRecord(context, 'capsule')) {
    const capsules = await Promise.all(records.map(unpackCapsule));
    const ids = capsules.filter(({ sourceIds }) => sourceIds.includes(sourceId)).map(({ id }) => id);
    if (ids.length > 0) removed += await context.store.forgetIds(context.scope, 'capsule', ids);
  }
  return removed + (await forgetWhere(context, (message) => sourceIdOf(message) === sourceId));
}
