import { defineAgent } from 'dormouse';

/**
 * The agents of this deployment: the one file to edit. An agent that is not defined here can hibernate too; a definition
 * adds a schema, callbacks that see each state on its way in and out, a retention policy, actions and schedules.
 */
export default [
  defineAgent({
    name: 'support',
    retention: {
      name: 'default',
      rawRetentionSecs: 2_592_000,
      capsuleRetentionSecs: null,
      compactAfterSecs: 604_800,
      exportAllowed: true,
      forgetAllowed: true,
      metadata: {},
    },
  }),
];
