import { DEFAULT_RETENTION, defineAgent, scheduleDescriptor } from 'dormouse';

/**
 * The agents of this deployment: the one file to edit. An agent that is not defined here can hibernate too; a definition
 * adds a schema, callbacks that see each state on its way in and out, a retention policy, actions and schedules.
 */
export default [
  defineAgent({
    name: 'support',
    // Messages go after 30 days, and are due for compaction after 7.
    retention: DEFAULT_RETENTION,
    // Loaded where they run. `prune-raw-memory` is there without being written.
    actions: () => import('./support-actions.ts'),
    schedules: [
      scheduleDescriptor('nightly-compaction', '0 2 * * *', 'compact-stale-sessions'),
      scheduleDescriptor('hourly-pruning', '30 * * * *', 'prune-raw-memory'),
      scheduleDescriptor('daily-digest', '0 7 * * *', 'daily-digest', { timezone: 'Europe/Paris' }),
    ],
  }),
];
