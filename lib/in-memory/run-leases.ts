import type { RunLease, RunLeases } from '../runs/run-leases.ts';

/** Keeps leases in this process only. */
export function inMemoryRunLeases(): RunLeases {
  const leases = new Map<string, RunLease>();
  const places = new Map<string, Set<string>>();
  const keyOf = (agent: string, action: string) => JSON.stringify([agent, action]);

  return {
    async holder(agent, action) {
      return leases.get(keyOf(agent, action));
    },
    async acquire(agent, action, lease, now) {
      const held = leases.get(keyOf(agent, action));
      const holds = held !== undefined && held.until > now;
      if (holds && (held.runId !== lease.runId || held.until > lease.until)) return held;
      leases.set(keyOf(agent, action), lease);
      return lease;
    },
    async release(agent, action, runId) {
      if (leases.get(keyOf(agent, action))?.runId === runId) leases.delete(keyOf(agent, action));
    },
    async enter(agent, runId, max) {
      const taken = places.get(agent) ?? new Set();
      if (!taken.has(runId) && taken.size >= max) return [...taken];
      places.set(agent, taken.add(runId));
      return undefined;
    },
    async leave(agent, runIds) {
      for (const runId of runIds) places.get(agent)?.delete(runId);
    },
  };
}
