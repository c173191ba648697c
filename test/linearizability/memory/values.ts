import { type Interval, isLinearizable, type Model } from '../linearizable.ts';
import type { Fate, Span } from './history.ts';

/*
 * Each key of the user data of a session is a linearizable register. What a forget has removed does not come back by a
 * call that had been answered, as failed, before the forget began.
 *
 * Of knowledge it is not asked as much: it has no clock (see docs/decisions/0002-session-memory.md), so that a request of
 * a call may take effect again later, and a forget whose answer was lost may not know any more what it has removed.
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
  return isLinearizable(stepsOf(calls), register);
}

/** Of each call that changes something a second one that may take effect at any time after. */
export function isRegisterWithEchoes(calls: readonly ValueCall[]): boolean {
  const untold = calls.map((call) => (call.kind === 'forget' ? { ...call, wasSet: undefined } : call));
  const echoes = untold.filter(({ kind }) => kind !== 'get').map((call) => ({ ...call, optional: true }));
  return isLinearizable([...untold.map(stepOf), ...echoes], register);
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
