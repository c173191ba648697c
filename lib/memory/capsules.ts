import { ForgottenMeanwhileError, IdConflictError, InvalidInputError } from '../errors.ts';
import { checkFields, checkName, fieldsOf } from '../input.ts';
import type { CapsuleOptions, CapsulePage, NewCapsule, RecentQuery } from './agent-memory.ts';
import { checkCapsule } from './check-capsule.ts';
import { keepLineageOf } from './lineage.ts';
import type { MemoryContext } from './memory-context.ts';
import { type Capsule, type Message, sourceIdOf } from './message.ts';
import { digestOfCapsule, isSameDigest, packCapsule, unpackCapsule } from './message-codec.ts';
import { checkPaging } from './paging.ts';
import { secondsOf } from './retention.ts';

export function capsuleFromWindow(
  window: readonly Message[],
  summary: unknown,
  previous?: Capsule,
): NewCapsule {
  if (!Array.isArray(window)) throw new InvalidInputError('window', 'must be an array of messages');
  const times = [
    ...window.map(({ timestamp }) => timestamp),
    ...(previous ? [previous.from, previous.to] : []),
  ];
  // ISO times in UTC of four-digit years sort as text.
  const [from, to] = [times.sort()[0], times.at(-1)];
  if (window.length === 0 || from === undefined || to === undefined)
    throw new InvalidInputError('window', 'holds no message, or one without a timestamp');
  const sources = window.map(sourceIdOf).filter((id) => id !== undefined);
  return {
    summary,
    from,
    to,
    messageCount: window.length + (previous?.messageCount ?? 0),
    messageIds: window.map(({ id }) => id),
    sourceIds: [...new Set(sources)],
    previousId: previous?.id ?? null,
  };
}

const optionNames = fieldsOf<CapsuleOptions>()({ since: 1 });

/**
 * Stores a capsule as it is at the call. Nothing that was forgotten comes back in it: it is refused when one of its
 * messages was forgotten before, and a forget that begins from then on finds it.
 */
export async function storeCapsule(
  context: MemoryContext,
  given: NewCapsule,
  options: CapsuleOptions = {},
): Promise<Capsule> {
  checkFields('options', options, optionNames);
  const { since } = options;
  const { store, scope, policy, clock, newId, mustBeRegistered } = context;
  const content = checkCapsule(given);
  const id = given.id === undefined ? newId() : checkName('capsule.id', given.id);
  const now = clock();
  const { messageIds, previousId } = content;
  const { dump, digest } = packCapsule(content);

  try {
    await keepLineageOf(context, previousId, { admit: mustBeRegistered, since });
    const [appended] = await store.append(scope, 'capsule', {
      records: [{ id, at: now.getTime(), dump: await dump, digest }],
      receivedAt: now.getTime(),
      retentionSecs: secondsOf(policy.capsuleRetentionSecs),
      requestId: undefined,
      since,
      async admit() {
        await mustBeRegistered();
        if (since !== undefined) return;
        const [forgotten] = await store.forgottenAmong(scope, messageIds);
        if (forgotten !== undefined)
          throw new InvalidInputError('capsule.messageIds', `the message ${forgotten} was forgotten`);
      },
    });
    const record = appended && 'record' in appended ? appended.record : undefined;
    if (record === undefined || !isSameDigest(await digestOfCapsule(record), digest))
      throw new IdConflictError([id]);
    return await unpackCapsule(record);
  } catch (error) {
    // Where the whole session went, its caller is told so.
    if (error instanceof ForgottenMeanwhileError) await mustBeRegistered();
    throw error;
  }
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
