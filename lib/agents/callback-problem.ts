import { types } from 'node:util';

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
