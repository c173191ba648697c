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

/** A field that nothing reads is one that somebody meant to have an effect. Undefined where all of them are known. */
export function unknownFieldProblem(given: object, known: readonly string[]): string | undefined {
  const field = Object.keys(given).find((name) => !known.includes(name));
  if (field === undefined) return undefined;
  const nearest = nearestName(field, known);
  return `there is no field '${field}'; ${nearest ? `did you mean '${nearest}'?` : `there are: ${known.join(', ')}`}`;
}
