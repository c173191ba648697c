import { types } from 'node:util';
import { DormouseError } from './errors.ts';

/** Whether it is an error, also one of another realm (a `vm` context, a test runner). */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value);
  } catch {
    // A revoked proxy has no prototype to look at.
    return false;
  }
}

/**
 * What a caught value says, whatever was thrown: an `Error` with its cause and the parts of an `AggregateError`, an
 * object with a message as clients of databases throw it, a string, `undefined`. Never throws, and is never long.
 */
export function messageOf(thrown: unknown): string {
  const text = said(thrown, 0) ?? nameless(thrown);
  return text.length <= messageMaxChars ? text : `${text.slice(0, messageMaxChars - 1).toWellFormed()}…`;
}

const messageMaxChars = 10_000;
/** How far into causes and parts a message looks, and at how many parts. */
const maxDepth = 3;
const maxParts = 3;

/** Where values that are no errors have their message, the likeliest first. */
const messageFields = ['message', 'reason', 'error', 'detail', 'description', 'msg', 'title', 'statusText'];

function said(thrown: unknown, depth: number): string | undefined {
  if (typeof thrown === 'string') return isBlank(thrown) ? undefined : thrown.slice(0, messageMaxChars);
  // As what was thrown they say nothing; in the place of a message they are one.
  if (depth > 0 && (typeof thrown === 'number' || typeof thrown === 'symbol'))
    return String(thrown).slice(0, messageMaxChars);
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null || depth > maxDepth)
    return undefined;
  const error = isError(thrown);
  const message = firstSaid(thrown, error ? ['message'] : messageFields, depth) ?? partsOf(thrown, depth);
  // The messages of our own errors are whole: they say of their causes what may be said.
  if (error && isOurs(thrown)) return message;

  const code = error ? undefined : shortText(read(thrown, 'code'));
  const name = shortText(read(thrown, error ? 'code' : 'name')) ?? nameOf(thrown, error);
  const named = message ?? code ?? name ?? (error ? undefined : statusOf(thrown));
  if (named === undefined) return undefined;
  const withCode = code === undefined || named.includes(code) ? named : `${named} (${code})`;
  const more = [
    ['', message === undefined ? undefined : partsOf(thrown, depth)],
    ['caused by: ', error ? said(read(thrown, 'cause'), depth + 1) : undefined],
  ].flatMap(([what, text]) => (text === undefined || withCode.includes(text) ? [] : [`${what}${text}`]));
  return [withCode, ...more].join('; ');
}

function firstSaid(thrown: object, fields: readonly string[], depth: number): string | undefined {
  for (const field of fields) {
    const text = said(read(thrown, field), depth + 1);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Of an `AggregateError`, of an answer with a list of `errors`, or of such a list itself. */
function partsOf(thrown: object, depth: number): string | undefined {
  try {
    const parts = Array.isArray(thrown) ? thrown : read(thrown, 'errors');
    if (!Array.isArray(parts) || parts.length === 0) return undefined;
    const first = Array.from({ length: Math.min(parts.length, maxParts) }, (_, index) =>
      said(read(parts, String(index)), depth + 1),
    );
    const texts = [...new Set(first.filter((text) => text !== undefined))];
    if (texts.length === 0) return undefined;
    const left = parts.length - first.length;
    return `${texts.join('; ')}${left > 0 ? `; and ${left} more` : ''}`;
  } catch {
    return undefined;
  }
}

function isOurs(error: object): boolean {
  try {
    return error instanceof DormouseError;
  } catch {
    return false;
  }
}

function nameOf(thrown: object, error: boolean): string | undefined {
  return error ? shortText(read(thrown, 'name')) : undefined;
}

/** A getter may throw, a proxy may be revoked. */
function read(from: object, field: string): unknown {
  try {
    return (from as Record<string, unknown>)[field];
  } catch {
    return undefined;
  }
}

function shortText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !isBlank(value) && value.length <= 100 ? value : undefined;
}

/** Of an answer to an HTTP request, which may say nothing else. */
function statusOf(thrown: object): string | undefined {
  const status = read(thrown, 'status') ?? read(thrown, 'statusCode');
  return typeof status === 'number' ? `status ${status}` : undefined;
}

function isBlank(text: string): boolean {
  return text.length < 1000 && text.trim() === '';
}

function nameless(thrown: unknown): string {
  if (thrown === null) return 'a thrown null';
  const isPlain = ['number', 'boolean', 'bigint', 'symbol'].includes(typeof thrown);
  return `a thrown ${typeof thrown}${isPlain ? `: ${String(thrown)}` : ''}`;
}
