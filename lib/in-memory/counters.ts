import type { Counters } from '../sessions/counters.ts';

/** Keeps counters in this process only. */
export function inMemoryCounters(): Counters {
  const values = new Map<string, number>();
  const nameOf = (agent: string, name: string) => JSON.stringify([agent, name]);

  return {
    async bump(agent, name, by) {
      const value = (values.get(nameOf(agent, name)) ?? 0) + by;
      values.set(nameOf(agent, name), value);
      return value;
    },
    async get(agent, name) {
      return values.get(nameOf(agent, name)) ?? 0;
    },
  };
}
