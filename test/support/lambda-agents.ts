import { compactMemory, defineAgent } from 'dormouse';
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: as in the README
type Any = any;

/** Results that are far more than is kept of them, by the id of the session. */
const results: Readonly<Record<string, () => unknown>> = {
  deep: () => Array.from({ length: 100_000 }).reduce((inner) => [inner], 'x'),
  wide: () => Array.from({ length: 1_000_000 }, (_, at) => ({ at })),
  long: () => 'x'.repeat(100_000_000),
  named: () => Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`name ${at}`, at])),
  thrown: () => {
    throw new Error('x'.repeat(100_000_000));
  },
};

/** The callbacks of the README, and a schema: they cost what the state does. */
export default [
  defineAgent({
    name: 'called-back',
    dump: (agent: Any) => ({ ...agent, cache: undefined, version: 2 }),
    load: (data: Any) => ({ ...data, notes: [] }),
  }),
  defineAgent({ name: 'checked', state: z.any() }),
  defineAgent({
    name: 'worked',
    actions: {
      compact: (_session, { memory }) =>
        compactMemory(memory(), ({ messages }) => `${messages.length} messages`, { until: new Date() }),
      digest: ({ id }) => results[id]?.() ?? null,
    },
  }),
];
