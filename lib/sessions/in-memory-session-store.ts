import { sessionShards } from '../defaults.ts';
import type { Session } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { shardOf } from './shard-of.ts';

/** Keeps sessions in this process only: for tests, and for agents that need not outlive it. */
export function inMemorySessionStore(): SessionStore {
  const agents = new Map<string, Map<string, Session>>();
  const sessionsOf = (agent: string) => agents.get(agent) ?? new Map<string, Session>();

  return {
    async register(agent, { id, meta, at }) {
      const sessions = sessionsOf(agent);
      agents.set(agent, sessions);
      const known = sessions.get(id);
      const registeredAt = known?.registeredAt ?? at;
      const session = { id, meta: structuredClone(meta), registeredAt, lastActiveAt: at };
      sessions.set(id, session);
      return { session: structuredClone(session), created: known === undefined };
    },
    async touch(agent, id, at) {
      const known = sessionsOf(agent).get(id);
      if (known !== undefined) sessionsOf(agent).set(id, { ...known, lastActiveAt: at });
      return known !== undefined;
    },
    async get(agent, id) {
      return structuredClone(sessionsOf(agent).get(id));
    },
    async deregister(agent, id, onlyIf) {
      const known = sessionsOf(agent).get(id);
      if (onlyIf !== undefined && JSON.stringify(known?.meta) !== JSON.stringify(onlyIf.meta)) return false;
      return sessionsOf(agent).delete(id);
    },
    async listShard({ agent, shard, limit, after }) {
      const following = [...sessionsOf(agent).values()]
        .filter(({ id }) => shardOf(id, sessionShards) === shard && (after === undefined || id > after))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const items = following.slice(0, limit).map((session) => structuredClone(session));
      return { items, next: following.length > limit ? items.at(-1)?.id : undefined };
    },
  };
}
