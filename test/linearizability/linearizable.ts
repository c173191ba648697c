/** A call, or what it does to one object, with the moments at which it began and was answered. */
export interface Interval {
  readonly from: number;
  readonly to: number;
  /** The caller was told that it failed: it may have taken effect, once, at any time since, or not. */
  readonly optional: boolean;
  /** It can take effect only before the steps that began at these moments. */
  readonly before?: readonly number[];
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
  const numbered = steps.map((step, index) => ({
    ...{ step, bit: 1n << BigInt(index) },
    closedBy: steps.reduce(
      (set, { from }, other) => (step.before?.includes(from) ? set | (1n << BigInt(other)) : set),
      0n,
    ),
  }));
  const mustBe = numbered.reduce((set, { step, bit }) => (step.optional ? set : set | bit), 0n);
  const tried = new Set<string>();
  const pending = [{ done: 0n, state: initial }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { done, state } = place;
    if ((done & mustBe) === mustBe) return true;
    const name = `${done} ${nameOf(state)}`;
    if (tried.has(name)) continue;
    tried.add(name);
    const left = numbered.filter(({ bit }) => (done & bit) === 0n);
    const firstAnswer = Math.min(...left.map(({ step }) => (step.optional ? Infinity : step.to)));
    for (const { step, bit, closedBy } of left)
      if (step.from <= firstAnswer && (done & closedBy) === 0n)
        for (const next of apply(state, step)) pending.push({ done: done | bit, state: next });
  }
  return false;
}
