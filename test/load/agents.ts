import { defineAgent, failed } from 'dormouse';

/** What the load meets: callbacks, a run of which some sessions fail, and few errors that are kept. */
export default [
  defineAgent({
    name: 'loaded',
    dump: (state: object) => ({ ...state, cache: undefined }),
    load: (state: object) => ({ ...state, notes: [] }),
    actions: { visit: ({ id }) => (id.endsWith('3') ? failed('not this one') : { seen: id }) },
    limits: { maxErrors: 20 },
  }),
];
