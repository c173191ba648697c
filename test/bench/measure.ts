export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Times the calls one after the other, round by round, so that a slow moment of the machine meets all of them. */
export async function inTurn<Name extends string>(
  calls: Readonly<Record<Name, () => unknown>>,
  { warmUp, rounds }: { readonly warmUp: number; readonly rounds: number },
): Promise<Record<Name, number[]>> {
  const names = Object.keys(calls) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      const startedAt = performance.now();
      await calls[name]();
      if (round >= 0) times[name].push(performance.now() - startedAt);
    }
  }
  return times;
}
