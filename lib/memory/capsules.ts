import { checkName } from '../sessions/names.ts';
import type { CapsulePage, NewCapsule, RecentQuery } from './agent-memory.ts';
import type { MemoryContext } from './memory-context.ts';
import { IdConflictError, InvalidInputError } from './memory-error.ts';
import { type Capsule, type Message, sourceIdOf } from './message.ts';
import { digestOfCapsule, isSameDigest, packCapsule, unpackCapsule } from './message-codec.ts';
import { checkPaging } from './paging.ts';
import { secondsOf } from './retention.ts';

export function capsuleFromWindow(
  window: readonly Message[],
  summary: unknown,
  previous?: Capsule,
): NewCapsule {
  const times = [
    ...window.map(({ timestamp }) => timestamp),
    ...(previous ? [previous.from, previous.to] : []),
  ];
  // ISO times in UTC of four-digit years sort as text.
  const [from, to] = [times.sort()[0], times.at(-1)];
  if (window.length === 0 || from === undefined || to === undefined)
    throw new InvalidInputError('window', 'holds no message');
  const sources = window.map(sourceIdOf).filter((id) => id !== undefined);
  return {
    summary,
    from,
    to,
    messageCount: window.length + (previous?.messageCount ?? 0),
    messageIds: window.map(({ id }) => id),
    sourceIds: [...new Set([...(previous?.sourceIds ?? []), ...sources])],
    previousId: previous?.id ?? null,
  };
}

export async function storeCapsule(context: MemoryContext, given: NewCapsule): Promise<Capsule> {
  const { store, scope, policy, clock, newId } = context;
  const id = given.id === undefined ? newId() : checkName('capsule.id', given.id);
  if (given.summary === undefined) throw new InvalidInputError('capsule.summary', 'is missing');
  const now = clock();
  const { summary, from, to, messageCount, messageIds, sourceIds, previousId, metadata = {} } = given;
  const content = { summary, from, to, messageCount, messageIds, sourceIds, previousId, metadata };
  const { dump, digest } = packCapsule(content);
  const [appended] = await store.append(scope, 'capsule', {
    records: [{ id, at: now.getTime(), dump: await dump, digest }],
    receivedAt: now.getTime(),
    retentionSecs: secondsOf(policy.capsuleRetentionSecs),
    requestId: undefined,
  });
  if (appended === undefined || !isSameDigest(await digestOfCapsule(appended.record), digest))
    throw new IdConflictError([id]);
  return unpackCapsule(appended.record);
}

export async function getCapsule({ store, scope }: MemoryContext, id: string): Promise<Capsule | undefined> {
  const record = await store.get(scope, 'capsule', checkName('id', id));
  return record && unpackCapsule(record);
}

export async function listCapsules(
  { store, scope }: MemoryContext,
  query: Pick<RecentQuery, 'limit' | 'order' | 'after'>,
): Promise<CapsulePage> {
  const { items, next } = await store.list(scope, 'capsule', checkPaging(query));
  return { items: await Promise.all(items.map(unpackCapsule)), next };
}
