import { jobResultMaxBytes } from '../defaults.ts';
import type { LifecycleJob } from '../lifecycle/lifecycle-job.ts';
import { shownValue } from '../persistence/shown-value.ts';

/**
 * The job as a run keeps it: thousands of them are stored and listed. A result that JSON cannot carry, or that is long,
 * is kept as the beginning of a text that describes it.
 */
export function storedJob(job: LifecycleJob): LifecycleJob {
  return job.result === null ? job : { ...job, result: storedResult(job.result) };
}

function storedResult(result: unknown): unknown {
  const shown = shownValue(result);
  if (typeof shown === 'string' && typeof result !== 'string') return cut(shown);
  const text = JSON.stringify(shown);
  return Buffer.byteLength(text) <= jobResultMaxBytes ? JSON.parse(text) : cut(text);
}

/** UTF-8 takes at the most three bytes for what JavaScript counts as one character. */
function cut(text: string): string {
  const chars = Math.floor(jobResultMaxBytes / 3) - 1;
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`;
}
