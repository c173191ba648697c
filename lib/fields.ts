import { nearestName } from './nearest-name.ts';

/** The fields of a type, of which the compiler lets none be forgotten. */
export function fieldsOf<T>() {
  return (fields: Record<keyof T, 1>): readonly string[] => Object.keys(fields);
}

/** A field that nothing reads is one that somebody meant to have an effect. Undefined where all of them are known. */
export function unknownFieldProblem(given: object, known: readonly string[]): string | undefined {
  const field = Object.keys(given).find((name) => !known.includes(name));
  if (field === undefined) return undefined;
  const nearest = nearestName(field, known);
  return `there is no field '${field}'; ${nearest ? `did you mean '${nearest}'?` : `there are: ${known.join(', ')}`}`;
}

/** As that, for what may be no object at all. */
export function fieldsProblem(given: unknown, known: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null) return 'must be an object';
  return unknownFieldProblem(given, known);
}
