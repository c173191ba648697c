/** The known name that a misspelled one most likely stands for; undefined where none is near. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  // What is this long is no misspelling, and comparing it would cost time in proportion.
  if (given.length > nameMaxChars) return undefined;
  const [nearest] = known
    .map((name) => ({ name, distance: distance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  if (nearest === undefined) return undefined;
  const mistakesMax = Math.max(2, Math.floor(nearest.name.length / 3));
  const isNear = nearest.distance <= mistakesMax && nearest.distance < nearest.name.length;
  return isNear ? nearest.name : undefined;
}

const nameMaxChars = 64;

/** Letters to insert, remove or replace (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
