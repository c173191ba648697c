import { fieldsProblem } from '../fields.ts';
import { InvalidInputError } from './memory-error.ts';

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
