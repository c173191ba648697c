import { defineAgent } from 'dormouse';
import { z } from 'zod';

// biome-ignore lint/suspicious/noExplicitAny: as in the README
type Any = any;

/** The callbacks of the README, and a schema: they cost what the state does. */
export default [
  defineAgent({
    name: 'called-back',
    dump: (agent: Any) => ({ ...agent, cache: undefined, version: 2 }),
    load: (data: Any) => ({ ...data, notes: [] }),
  }),
  defineAgent({ name: 'checked', state: z.any() }),
];
