import { type Interval, isLinearizable, type Model } from '../linearizable.ts';
import type { Fate, Span } from './history.ts';

/*
 * Each key of the user data of a session, and of the knowledge of an agent, is a linearizable register. What a forget
 * has removed does not come back by a call that had been answered, as failed, before the forget began.
 */

export type ValueCall = Span &
  (
    | { readonly kind: 'set'; readonly value: string; readonly fate: Fate }
    /** Of the key, with whether it was set; or of the whole session, which does not tell. */
    | { readonly kind: 'forget'; readonly fate: Fate; readonly wasSet?: boolean | undefined }
    | { readonly kind: 'get'; readonly value: string | undefined }
  );

type Step = ValueCall & Interval;

const register: Model<Step, string | undefined> = {
  initial: undefined,
  nameOf: (state) => `${state}`,
  apply(state, step) {
    if (step.kind === 'set') return [step.value];
    if (step.kind === 'get') return step.value === state ? [state] : [];
    return step.wasSet === undefined || step.wasSet === (state !== undefined) ? [undefined] : [];
  },
};

export function isRegister(calls: readonly ValueCall[]): boolean {
  const steps = calls.map((call): Step => {
    if (call.kind === 'get' || call.fate === 'ok') return { ...call, optional: false };
    return { ...call, optional: true, to: call.kind === 'set' ? latestSet(call, calls) : Infinity };
  });
  return isLinearizable(steps, register);
}

function latestSet({ to }: Span, calls: readonly ValueCall[]): number {
  const later = calls.filter((call) => call.kind === 'forget' && call.fate === 'ok' && call.from > to);
  return Math.min(Number.POSITIVE_INFINITY, ...later.map((forget) => forget.to));
}
