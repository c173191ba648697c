import { distance } from 'fastest-levenshtein';

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
