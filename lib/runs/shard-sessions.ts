import { sessionShards } from '../defaults.ts';
import type { SessionPage } from '../sessions/session-store.ts';
import { shardOf } from '../sessions/shard-of.ts';
import type { StoredRun } from './run.ts';
import type { RunEngine } from './run-engine.ts';

/** The sessions of a run's shard that follow the cursor: registered ones, and of those the ones that it is to visit. */
export async function shardSessions(
  { stores, pageSize, attempt }: RunEngine,
  { agent, only }: StoredRun,
  { shard, after }: { shard: number; after: string | undefined },
): Promise<SessionPage> {
  if (only === undefined)
    return attempt(() => stores.sessions.listShard({ agent, shard, limit: pageSize, after }));
  const following = only.filter(
    (id) => shardOf(id, sessionShards) === shard && (after === undefined || id > after),
  );
  const ids = following.slice(0, pageSize);
  const items = await Promise.all(ids.map((id) => attempt(() => stores.sessions.get(agent, id))));
  return {
    items: items.filter((session) => session !== undefined),
    next: following.length > pageSize ? ids.at(-1) : undefined,
  };
}
