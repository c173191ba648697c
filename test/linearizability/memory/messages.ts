import { type Interval, isLinearizable, type Model } from '../linearizable.ts';
import { closedBy, endOf, type History, type Message, type Selection } from './history.ts';

/*
 * Each message by itself is linearizable: the calls that remember, forget, compact or read it have an order, each at a
 * moment between its call and its answer, that explains all answers. What is sent again under its id is the same
 * message, or a conflict; what a forget removed does not come back by a call that had been answered before; a call of
 * unknown outcome has at most one effect.
 *
 * A compacted message keeps its id taken. A forget that covers a capsule frees the ids of what it was made of. Whether it
 * has is left open here: if it has not, what is accepted under the id later is lost, which `lostMessages` finds.
 */

type State = { readonly content: string; readonly at: number; readonly isCompacted: boolean } | undefined;

type Step = Interval &
  (
    | { readonly does: 'remember'; readonly message: Message; readonly conflict: boolean }
    | { readonly does: 'forget'; readonly what: Selection; readonly frees: boolean }
    | { readonly does: 'compact'; readonly content: string; readonly maySpare: boolean }
    | { readonly does: 'read'; readonly seen: Message | undefined }
  );

/** The ids of messages whose calls no order explains. */
export function unexplainedMessages(history: History): string[] {
  return history.ids.filter((id) => !isLinearizable(stepsOf(history, id), modelOf(history, id)));
}

function stepsOf(history: History, id: string): Step[] {
  const { remembers, forgets, compactions, reads, forgetsMessage, forgetsCapsule } = history;
  const ownCapsules = compactions.filter(({ made }) => made.messages.some((message) => message.id === id));
  const steps: Step[] = [];
  for (const { sent, from, to } of remembers)
    for (const message of sent.filter((one) => one.id === id)) {
      const optional = message.fate === 'unknown';
      const before = optional ? closedBy(to, forgets, (what) => forgetsMessage(what, message)) : [];
      const conflict = message.fate === 'conflict';
      steps.push({ does: 'remember', message, conflict, from, to, optional, before });
    }
  for (const { what, fate, from, to } of forgets) {
    const frees = ownCapsules.some(({ made }) => forgetsCapsule(what, made.name));
    steps.push({ does: 'forget', what, frees, from, to, optional: fate === 'unknown' });
  }
  for (const { made, fate, from, to } of ownCapsules) {
    const own = made.messages.find((message) => message.id === id);
    if (fate === 'none' || own === undefined) continue;
    // Forgotten since the compaction has read it, and remembered anew.
    const maySpare = forgets.some((forget) => endOf(forget) > from && forgetsMessage(forget.what, own));
    const optional = fate === 'unknown';
    steps.push({ does: 'compact', content: own.content, maySpare, from, to, optional });
  }
  for (const { messages, from, between } of reads) {
    const seen = messages.filter((message) => message.id === id);
    for (const one of seen.length === 0 ? [undefined] : seen)
      steps.push({ does: 'read', seen: one, from, to: between, optional: false });
  }
  return steps;
}

function modelOf({ forgetsMessage }: History, id: string): Model<Step, State> {
  return {
    initial: undefined,
    nameOf: (state) => `${state && `${state.isCompacted} ${state.at} ${state.content}`}`,
    apply(state, step) {
      switch (step.does) {
        case 'remember': {
          const { content, at } = step.message;
          const isTaken = state !== undefined && state.content !== content;
          if (step.conflict || isTaken) return step.conflict && isTaken ? [state] : [];
          return [state ?? { content, at, isCompacted: false }];
        }
        case 'forget':
          if (state === undefined) return [state];
          if (step.what.of === 'session') return [undefined];
          if (state.isCompacted) return step.frees ? [undefined, state] : [state];
          return [forgetsMessage(step.what, { id, at: state.at }) ? undefined : state];
        case 'compact': {
          if (state?.content !== step.content || state.isCompacted) return [state];
          const compacted = { ...state, isCompacted: true };
          return step.maySpare ? [compacted, state] : [compacted];
        }
        case 'read': {
          const { seen } = step;
          const raw = state?.isCompacted ? undefined : state;
          return raw?.content === seen?.content && raw?.at === seen?.at ? [state] : [];
        }
      }
    },
  };
}

/**
 * Messages that were accepted and are neither among the messages nor in a capsule that a later read finds, though no
 * forget that was not over before covers them, or a capsule that may stand for them.
 */
export function lostMessages(history: History): string[] {
  const { remembers, forgets, compactions, reads, forgetsMessage, forgetsCapsule, coveredBy } = history;
  const timesOf = (id: string) =>
    remembers.flatMap(({ sent }) => sent.filter((one) => one.id === id).map(({ at }) => at));
  const capsulesOf = (id: string) =>
    compactions
      .filter(({ fate, made }) => fate !== 'none' && coveredBy(made.name).some((one) => one.id === id))
      .map(({ made }) => made.name);
  const lost = new Set<string>();
  for (const { sent, from, to } of remembers)
    for (const { id, content, fate } of sent) {
      if (fate !== 'ok') continue;
      const [times, capsules] = [timesOf(id), capsulesOf(id)];
      const isForgotten = forgets.some(
        (forget) =>
          endOf(forget) > from &&
          (times.some((at) => forgetsMessage(forget.what, { id, at })) ||
            capsules.some((capsule) => forgetsCapsule(forget.what, capsule))),
      );
      if (isForgotten) continue;
      const isSame = (one: Message) => one.id === id && one.content === content;
      const later = reads.filter((read) => read.from > to);
      const isSeenIn = (read: (typeof reads)[number]) =>
        read.messages.some(isSame) || read.capsules.some((capsule) => coveredBy(capsule).some(isSame));
      if (!later.every(isSeenIn)) lost.add(id);
    }
  return [...lost];
}
