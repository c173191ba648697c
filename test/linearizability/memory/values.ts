import { type Interval, isLinearizable, type Model } from '../linearizable.ts';
import type { Fate, Span } from './history.ts';

/*
 * Each key of the user data of a session, and of the knowledge of an agent, is a linearizable register.
 *
 * What a forget has removed of a session does not come back by a call that had been answered, as failed, before the
 * forget began. Knowledge has no clock (see docs/decisions/0002-session-memory.md): of such a call, and of no other, the
 * request may still arrive.
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
  return isLinearizable(calls.map(stepOf), register);
}

export function isSessionRegister(calls: readonly ValueCall[]): boolean {
  return isLinearizable(stepsOf(calls), register);
}

function stepsOf(calls: readonly ValueCall[]): Step[] {
  const forgets = calls.filter((call) => call.kind === 'forget' && call.fate === 'ok');
  return calls.map((call) => {
    const before = forgets.filter(({ from }) => from > call.to).map(({ from }) => from);
    return { ...stepOf(call), before };
  });
}

function stepOf(call: ValueCall): Step {
  return { ...call, optional: call.kind !== 'get' && call.fate === 'unknown' };
}
