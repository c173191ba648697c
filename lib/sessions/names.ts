import { InvalidInputError } from '../memory/memory-error.ts';
import { nameProblem } from './name-problem.ts';

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
