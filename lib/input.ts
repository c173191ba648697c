import { types } from 'node:util';
import { distance } from 'fastest-levenshtein';
import { keyMaxBytes } from './defaults.ts';
import { InvalidInputError } from './errors.ts';

/** Why it is no name: any text that UTF-8 can carry, up to 512 bytes, is one. Undefined where it is. */
export function nameProblem(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a non-empty string';
  if (!value.isWellFormed()) return 'holds half of a surrogate pair, which UTF-8 cannot carry';
  const bytes = Buffer.byteLength(value);
  return bytes > keyMaxBytes ? `is ${bytes} bytes, the limit is ${keyMaxBytes}` : undefined;
}

/** Session ids, identities and keys of memory: any text that UTF-8 can carry, kept exactly, up to 512 bytes. */
export function checkName(field: string, value: unknown): string {
  const problem = nameProblem(value);
  if (problem !== undefined) throw new InvalidInputError(field, problem);
  return value as string;
}

const unsafe = /[\p{Cc}%?#\\]/u;

/** What a path of the HTTP API cannot carry unambiguously. */
export function isUnsafeInPath(text: string): boolean {
  return unsafe.test(text);
}

/** Why a path of the HTTP API cannot name this session; undefined where it can. */
export function unreachableBy(id: string): string | undefined {
  if (isUnsafeInPath(id)) return 'holds a control character, percent sign, ?, # or backslash';
  if (id.includes('/') || ['', '.', '..'].includes(id)) return "holds a '/', or is empty, '.' or '..'";
  return undefined;
}

/**
 * The id of a session that is to be registered: a name that the HTTP API can reach. Those that were registered by
 * earlier releases under other names stay readable, and are visited.
 *
 * @throws InvalidInputError naming the field
 */
export function checkSessionId(field: string, value: unknown): string {
  const id = checkName(field, value);
  const problem = unreachableBy(id);
  if (problem !== undefined) throw new InvalidInputError(field, `${problem}: no path could reach it`);
  return id;
}

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

/**
 * Refuses a field that nothing reads: who misspells an option, or hands over what is not kept, must not be told that all
 * is well.
 *
 * @throws InvalidInputError naming the argument
 */
export function checkFields(argument: string, given: unknown, known: readonly string[]): void {
  const problem = fieldsProblem(given, known);
  if (problem !== undefined) throw new InvalidInputError(argument, problem);
}

/** Not a method that is named so: `class(session) {…}`. */
const isClass = /^class(?![\p{ID_Continue}$])(?!\s*\()/u;

/**
 * Why a value cannot be called for its work, undefined where it can. Calling a generator runs nothing of it, and a class
 * cannot be called.
 */
export function callbackProblem(given: unknown): string | undefined {
  if (typeof given !== 'function') return 'must be a function';
  if (types.isGeneratorFunction(given)) return 'must not be a generator: calling one does none of its work';
  if (isClass.test(Function.prototype.toString.call(given))) return 'must be a function, not a class';
  return undefined;
}
