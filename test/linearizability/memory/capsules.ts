import { type Interval, isLinearizable, type Model } from '../linearizable.ts';
import { closedBy, endOf, type History, type Message } from './history.ts';

/*
 * Each capsule by itself is linearizable: it is stored at most once, and once it was forgotten it is never there again.
 * And no message is in two capsules that are read together, unless it has been forgotten in between.
 */

type State = 'not yet' | 'there' | 'gone';
type Step = Interval &
  (
    | { readonly does: 'store' }
    | { readonly does: 'forget' }
    | { readonly does: 'read'; readonly seen: boolean }
  );

const capsule: Model<Step, State> = {
  initial: 'not yet',
  nameOf: (state) => state,
  apply(state, step) {
    if (step.does === 'store') return state === 'not yet' ? ['there'] : [];
    if (step.does === 'forget') return [state === 'there' ? 'gone' : state];
    return step.seen === (state === 'there') ? [state] : [];
  },
};

/** The names of capsules whose calls no order explains: those too that nobody made. */
export function unexplainedCapsules(history: History): string[] {
  const { compactions, reads } = history;
  const names = [...compactions.map(({ made }) => made.name), ...reads.flatMap(({ capsules }) => capsules)];
  return [...new Set(names)].filter((name) => !isLinearizable(stepsOf(history, name), capsule));
}

function stepsOf({ compactions, forgets, reads, forgetsCapsule }: History, name: string): Step[] {
  const stores = compactions
    .filter(({ made, fate }) => made.name === name && fate !== 'none')
    .map(({ from, to, fate }): Step => {
      const optional = fate === 'unknown';
      const before = optional ? closedBy(to, forgets, (what) => forgetsCapsule(what, name)) : [];
      return { does: 'store', from, to, optional, before };
    });
  const removals = forgets
    .filter(({ what }) => forgetsCapsule(what, name))
    .map(({ from, to, fate }): Step => ({ does: 'forget', from, to, optional: fate === 'unknown' }));
  const sights = reads.map(({ between, to, capsules }): Step => {
    return { does: 'read', seen: capsules.includes(name), from: between, to, optional: false };
  });
  return [...stores, ...removals, ...sights];
}

/** Ids of messages that were summarised twice. */
export function summarisedTwice({ compactions, forgets, reads, forgetsMessage }: History): string[] {
  const twice = new Set<string>();
  const made = new Map(compactions.map((compaction) => [compaction.made.name, compaction]));
  const wasForgotten = (message: Message, since: number) =>
    forgets.some((forget) => endOf(forget) > since && forgetsMessage(forget.what, message));
  for (const { capsules } of reads) {
    const owners = new Map<string, number>();
    for (const name of capsules) {
      const { made: { messages } = { messages: [] }, from = 0 } = made.get(name) ?? {};
      for (const message of messages) {
        const other = owners.get(message.id);
        if (other !== undefined && !wasForgotten(message, Math.min(other, from))) twice.add(message.id);
        owners.set(message.id, Math.min(other ?? from, from));
      }
    }
  }
  return [...twice];
}
