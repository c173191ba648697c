import { cancelled, defineAgent, failed, type Session, scheduleDescriptor } from 'dormouse';
import ownAgents from '../../functions/agents.ts';

const see = ({ id }: Session) => ({ seen: id });

/** The ways in which a session can go wrong, by its `meta.behaviour`. */
const behaviours: Readonly<Record<string, () => unknown>> = {
  throw: () => {
    throw new Error('stumbled');
  },
  'reject-undefined': () => Promise.reject(undefined),
  long: () => {
    throw 'x'.repeat(600_000);
  },
  failed: () => failed('nobody listens'),
  cancelled: () => cancelled('paused by its user'),
  hang: () => new Promise(() => {}),
};

/**
 * The agents of the black-box suite: those of the project, and `probe`. Schedules that fire while it is tested have
 * actions of their own, so that their runs do not stand in the way of others.
 */
export default [
  ...ownAgents,
  defineAgent({
    name: 'probe',
    actions: {
      visit: see,
      stumble: ({ meta }) => behaviours[String(meta.behaviour)]?.() ?? null,
      'tick-rule': see,
      'tick-schedule': see,
    },
    schedules: [
      scheduleDescriptor('every-minute', '* * * * *', 'tick-rule'),
      scheduleDescriptor('every-minute-in-paris', '* * * * *', 'tick-schedule', { timezone: 'Europe/Paris' }),
      scheduleDescriptor('payday', '0 9 1,15 * MON', 'visit'),
      scheduleDescriptor('once-a-year', '@yearly', 'visit'),
    ],
    limits: { sessionTimeoutSecs: 2 },
  }),
];
