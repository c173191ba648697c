import { randomBytes } from 'node:crypto';
import { cancelled, defineAgent, failed, orThrow, type Session, scheduleDescriptor } from 'dormouse';
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
  // The README's own: see `infra/rehearsal/check-model-action.ts`.
  defineAgent({ name: 'notes', actions: () => import('./notes-actions.ts') }),
  defineAgent({
    name: 'probe',
    actions: {
      visit: see,
      stumble: ({ meta }) => behaviours[String(meta.behaviour)]?.() ?? null,
      // The session's instance is woken, changed and saved, one beside it grows over many rows and is forgotten.
      wake: async ({ id }, { instance }) => {
        const { version, agent } = orThrow(
          await instance().update((current) => ({ wakes: (current?.wakes ?? 0) + 1 })),
        );
        const grown = instance(`${id}-grown`);
        const noise = randomBytes(60_000).toString('base64');
        for (const times of [1, 2]) orThrow(await grown.hibernate({ noise, times }));
        orThrow(await grown.forget());
        return { version, agent };
      },
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
