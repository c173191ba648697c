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

/**
 * Whether there is one order of the operations in which each takes effect at once, at a moment between its call and its
 * answer, and has the outcome that it had. The search of Wing and Gong: operations that may come next are tried, and a
 * set of operations with a state that was reached before is not tried again.
 */
export function isLinearizable(history: readonly Operation[]): boolean {
  const operations = history.map((operation) =>
    operation.outcome.status === 'unknown' ? { ...operation, to: Number.POSITIVE_INFINITY } : operation,
  );
  const all = (1n << BigInt(operations.length)) - 1n;
  const mustBe = operations.reduce(
    (set, { outcome }, index) => (outcome.status === 'unknown' ? set : set | (1n << BigInt(index))),
    0n,
  );
  const tried = new Set<string>();
  const pending: { done: bigint; state: State }[] = [{ done: 0n, state: undefined }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { done, state } = place;
    if ((done & mustBe) === mustBe) return true;
    const name = `${done} ${state && `${state.version} ${state.content}`}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const left = operations.flatMap((operation, index) =>
      (done & (1n << BigInt(index))) === 0n ? [{ operation, bit: 1n << BigInt(index) }] : [],
    );
    const firstAnswer = Math.min(...left.map(({ operation }) => operation.to));
    for (const { operation, bit } of left) {
      if (operation.from > firstAnswer) continue;
      const next = apply(state, operation);
      if (next !== 'impossible') pending.push({ done: (done | bit) & all, state: next });
    }
  }
  return false;
}

/** The state after an operation that takes effect now. One whose outcome is unknown takes effect: not to is to be left out. */
function apply(state: State, { call, outcome }: Operation): State | 'impossible' {
  if (call.kind === 'get') {
    if (outcome.status === 'unknown') return state;
    if (outcome.status === 'not_found') return state === undefined ? state : 'impossible';
    if (outcome.status !== 'found' || state === undefined) return 'impossible';
    return outcome.content === state.content && outcome.version === state.version ? state : 'impossible';
  }
  const holds = conditionHolds(call.condition, state);
  if (outcome.status === 'conflict') return holds ? 'impossible' : state;
  if (!holds) return 'impossible';
  if (call.kind === 'forget') return undefined;
  const version = (state?.version ?? 0) + 1;
  if (outcome.status === 'ok' && outcome.version !== version) return 'impossible';
  return { content: call.content, version };
}

function conditionHolds(condition: Condition, state: State): boolean {
  if (condition === undefined) return true;
  return 'absent' in condition ? state === undefined : state?.content === condition.is;
}
