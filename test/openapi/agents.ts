import { defineAgent, failed } from 'dormouse';

/** What the fuzz of the OpenAPI document meets: nothing is refused by a policy, or because it is old. */
export default [
  defineAgent({
    name: 'fuzzed',
    retention: {
      ...{ name: 'everything', rawRetentionSecs: null, capsuleRetentionSecs: null, compactAfterSecs: null },
      ...{ exportAllowed: true, forgetAllowed: true, metadata: {} },
    },
    actions: {
      visit: ({ id }) => ({ seen: id }),
      stumble: ({ id }) => failed(`not ${id}`),
    },
  }),
];
