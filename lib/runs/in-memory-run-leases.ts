import type { RunLease, RunLeases } from './run-leases.ts';

/** Keeps leases in this process only. */
export function inMemoryRunLeases(): RunLeases {
  const leases = new Map<string, RunLease>();
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
  };
}
