import { defineAgent } from 'dormouse';

/**
 * The agents of this deployment: the one file to edit. An agent that is not defined here can hibernate too; a definition
 * adds callbacks, a schema, a retention policy, actions and schedules.
 */
export default [
  defineAgent({
    name: 'support',
    // States written by an older release are brought up to date when they wake up.
    load: (dump: { version?: number; notes?: string[] }) =>
      (dump.version ?? 1) >= 2 ? dump : { ...dump, version: 2, notes: dump.notes ?? [] },
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
