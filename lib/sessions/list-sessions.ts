import { keyMaxBytes, sessionShards } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import type { Session } from './session.ts';
import type { SessionPage, SessionStore } from './session-store.ts';
import { shardOf } from './shard-of.ts';

/** Every session of an agent, each once, read page by page: never more than one page is held. */
export async function* eachSession(
  store: SessionStore,
  agent: string,
  pageSize: number,
): AsyncGenerator<Session, void, undefined> {
  for (let shard = 0; shard < sessionShards; shard++) {
    let after: string | undefined;
    do {
      const page = await store.listShard({ agent, shard, limit: pageSize, after });
      yield* page.items;
      after = page.next;
    } while (after !== undefined);
  }
}

/** One page of all sessions, shard after shard. `next` is only meant to be handed back as `after`. */
export async function listSessions(
  store: SessionStore,
  { agent, limit, after }: { agent: string; limit: number; after?: string | undefined },
): Promise<SessionPage> {
  const start = parsePlace(after);
  const found: { session: Session; shard: number }[] = [];
  for (let shard = start.shard; shard < sessionShards && found.length <= limit; shard++) {
    // One more than asked, so that a page has a `next` only if something follows.
    let from = shard === start.shard ? start.id : undefined;
    do {
      const page = await store.listShard({ agent, shard, limit: limit + 1 - found.length, after: from });
      for (const session of page.items) found.push({ session, shard });
      from = page.next;
    } while (from !== undefined && found.length <= limit);
  }
  const last = found[limit - 1];
  return {
    items: found.slice(0, limit).map(({ session }) => session),
    next: found.length > limit && last !== undefined ? `${last.shard}/${last.session.id}` : undefined,
  };
}

/** The place comes back from a caller: one that this list cannot have given is refused before a store sees it. */
function parsePlace(after: string | undefined): { shard: number; id: string | undefined } {
  if (after === undefined) return { shard: 0, id: undefined };
  const [, digits, id = ''] = /^(0|[1-9]\d?)\/(.+)$/s.exec(after) ?? [];
  const shard = Number(digits);
  const isOurs =
    id.isWellFormed() && Buffer.byteLength(id) <= keyMaxBytes && shardOf(id, sessionShards) === shard;
  if (!isOurs) throw new InvalidInputError('after', 'the list cannot go on from there');
  return { shard, id };
}
