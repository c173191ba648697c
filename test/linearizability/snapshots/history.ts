import { isLinearizable, type Model } from '../linearizable.ts';

/** What a write asks of the key before it takes effect: a snapshot named by its content, nothing, or nothing in particular. */
export type Condition = { readonly is: string } | { readonly absent: true } | undefined;

export type Call =
  | { readonly kind: 'put'; readonly content: string; readonly condition: Condition }
  | { readonly kind: 'forget'; readonly condition: Condition }
  | { readonly kind: 'get' };

/** `unknown`: the caller was told that it failed. It may have taken effect at any time since, may yet, or never. */
export type Outcome =
  | { readonly status: 'ok'; readonly version?: number }
  | { readonly status: 'conflict' }
  | { readonly status: 'unknown' }
  | { readonly status: 'found'; readonly content: string; readonly version: number }
  | { readonly status: 'not_found' };

/** One call on one key, with the moments at which it began and was answered. */
export interface Operation {
  readonly call: Call;
  readonly outcome: Outcome;
  readonly from: number;
  readonly to: number;
}

/** What is stored under the key: nothing, or a content in its version. */
type State = { readonly content: string; readonly version: number } | undefined;

const snapshot: Model<Operation, State> = {
  initial: undefined,
  apply,
  nameOf: (state) => `${state && `${state.version} ${state.content}`}`,
};

/** Whether one order of the calls explains what they were answered. */
export function isExplained(history: readonly Operation[]): boolean {
  return isLinearizable(
    history.map((operation) => ({ ...operation, optional: operation.outcome.status === 'unknown' })),
    snapshot,
  );
}

/** A call whose outcome is unknown takes effect here: not to is to be left out. */
function apply(state: State, { call, outcome }: Operation): State[] {
  if (call.kind === 'get') {
    if (outcome.status === 'unknown') return [state];
    if (outcome.status === 'not_found') return state === undefined ? [state] : [];
    if (outcome.status !== 'found' || state === undefined) return [];
    return outcome.content === state.content && outcome.version === state.version ? [state] : [];
  }
  const holds = conditionHolds(call.condition, state);
  if (outcome.status === 'conflict') return holds ? [] : [state];
  if (!holds) return [];
  if (call.kind === 'forget') return [undefined];
  const version = (state?.version ?? 0) + 1;
  if (outcome.status === 'ok' && outcome.version !== version) return [];
  return [{ content: call.content, version }];
}

function conditionHolds(condition: Condition, state: State): boolean {
  if (condition === undefined) return true;
  return 'absent' in condition ? state === undefined : state?.content === condition.is;
}
