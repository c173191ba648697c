import { jobResultMaxBytes } from '../defaults.ts';
import { errorIn } from '../lifecycle/job-outcome.ts';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';
import { jsonText } from '../persistence/json-text.ts';
import { serializeValue } from '../persistence/serialize-value.ts';

/**
 * A handler whose value is what a run keeps of it, taken as the handler returns: what becomes of the value afterwards
 * changes no job. A result that says that something went wrong is thrown, as the handler's own error.
 */
export function withStoredResult(handler: SessionJobHandler): SessionJobHandler {
  return async (session, context) => {
    const returned = await handler(session, context);
    const error = errorIn(returned);
    if (error !== undefined) throw error;
    return storedResult(returned);
  };
}

/**
 * The result as a run keeps it: thousands of them are stored and listed. One that JSON cannot carry, or that is long, is
 * kept as the beginning of a text that describes it. Never throws: a page of jobs is committed as a whole, so that one
 * result must not cost the other sessions theirs.
 */
export function storedResult(result: unknown): unknown {
  if (result === undefined || result === null) return null;
  try {
    const shown = serializeValue(result);
    if (typeof shown === 'string') return cut(shown);
    const text = jsonText(shown);
    return Buffer.byteLength(text) <= jobResultMaxBytes ? JSON.parse(text) : cut(text);
  } catch {
    return 'a result that cannot be shown';
  }
}

/** To so many bytes as JSON, in which a character takes up to six. */
function cut(text: string): string {
  if (text.length <= jobResultMaxBytes && bytesOf(text) <= jobResultMaxBytes) return text;
  let chars = Math.floor(jobResultMaxBytes / 3) - 2;
  let beginning: string;
  do {
    beginning = `${text.slice(0, chars).toWellFormed()}…`;
    chars = Math.floor(chars / 2);
  } while (bytesOf(beginning) > jobResultMaxBytes);
  return beginning;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
