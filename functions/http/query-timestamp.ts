import type { Timestamp } from '../../lib/memory/timestamp.ts';

/** Digits alone are epoch milliseconds; whatever else it is, the library reads as ISO 8601 or refuses. */
export function timestampOf(text: string): Timestamp {
  return /^\d+$/.test(text) ? Number(text) : text;
}
