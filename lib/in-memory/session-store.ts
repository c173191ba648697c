import { sessionShards } from '../defaults.ts';
import { jsonText } from '../persistence/json-text.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { shardOf } from '../sessions/shard-of.ts';

/** Its meta is kept as text, which no caller can change, at any depth of nesting. */
interface KeptSession extends Omit<Session, 'meta'> {
  readonly meta: string;
}

function sessionOf(kept: KeptSession): Session {
  return { ...structuredClone(kept), meta: JSON.parse(kept.meta) };
}

/** Keeps sessions in this process only: for tests, and for agents that need not outlive it. */
export function inMemorySessionStore(): SessionStore {
  const agents = new Map<string, Map<string, KeptSession>>();
  const sessionsOf = (agent: string) => agents.get(agent) ?? new Map<string, KeptSession>();

  return {
    async register(agent, { id, meta, at }) {
      const sessions = sessionsOf(agent);
      agents.set(agent, sessions);
      const known = sessions.get(id);
      const registeredAt = known?.registeredAt ?? at;
      const session = { id, meta: jsonText(meta), registeredAt, lastActiveAt: at };
      sessions.set(id, session);
      return { session: sessionOf(session), created: known === undefined };
    },
    async touch(agent, id, at) {
      const known = sessionsOf(agent).get(id);
      if (known !== undefined) sessionsOf(agent).set(id, { ...known, lastActiveAt: at });
      return known !== undefined;
    },
    async get(agent, id) {
      const known = sessionsOf(agent).get(id);
      return known && sessionOf(known);
    },
    async deregister(agent, id, onlyIf) {
      const known = sessionsOf(agent).get(id);
      if (onlyIf !== undefined && known?.meta !== jsonText(onlyIf.meta)) return false;
      return sessionsOf(agent).delete(id);
    },
    async listShard({ agent, shard, limit, after }) {
      const following = [...sessionsOf(agent).values()]
        .filter(({ id }) => shardOf(id, sessionShards) === shard && (after === undefined || id > after))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const items = following.slice(0, limit).map(sessionOf);
      return { items, next: following.length > limit ? items.at(-1)?.id : undefined };
    },
  };
}
