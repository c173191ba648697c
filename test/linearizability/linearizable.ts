/** A call, or what it does to one object, with the moments at which it began and was answered. */
export interface Interval {
  readonly from: number;
  /** Of an optional one: the last moment at which it may have taken effect. */
  readonly to: number;
  /** The caller was told that it failed: it may have taken effect, once, or not. */
  readonly optional: boolean;
}

export interface Model<Step, State> {
  readonly initial: State;
  /** The states that the step may leave behind; none where it cannot have its outcome in this state. */
  apply(state: State, step: Step): readonly State[];
  nameOf(state: State): string;
}

/**
 * Whether there is one order of the steps in which each takes effect at once, at a moment between its call and its
 * answer, and has the outcome that it had. The search of Wing and Gong: steps that may come next are tried, and a set of
 * steps with a state that was reached before is not tried again.
 */
export function isLinearizable<Step, State>(
  steps: readonly (Step & Interval)[],
  { initial, apply, nameOf }: Model<Step, State>,
): boolean {
  const numbered = steps.map((step, index) => ({ step, bit: 1n << BigInt(index) }));
  const mustBe = numbered.reduce((set, { step, bit }) => (step.optional ? set : set | bit), 0n);
  const tried = new Set<string>();
  const pending = [{ done: 0n, latestBegin: Number.NEGATIVE_INFINITY, state: initial }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { done, latestBegin, state } = place;
    if ((done & mustBe) === mustBe) return true;
    const name = `${done} ${nameOf(state)}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const left = numbered.filter(({ bit }) => (done & bit) === 0n);
    const firstAnswer = Math.min(...left.map(({ step }) => (step.optional ? Infinity : step.to)));
    for (const { step, bit } of left) {
      // It would be after one that was answered before it began, or before one that began when it was over.
      if (step.from > firstAnswer || step.to < latestBegin) continue;
      for (const next of apply(state, step))
        pending.push({ done: done | bit, latestBegin: Math.max(latestBegin, step.from), state: next });
    }
  }
  return false;
}
