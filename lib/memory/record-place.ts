import type { AppendRequest, NewRecord, TimeRange } from './memory-store.ts';

/** A record's place in its session as text that sorts as the place does: its time, then its arrival. */
function formatPlace(at: number, arrival: number): string {
  return `${formatTime(at)}.${String(arrival).padStart(arrivalDigits, '0')}`;
}

const arrivalDigits = 15;

/** Makes times of the years 1 to 9999 digits of one length, also those before 1970. */
const timeOffset = 100_000_000_000_000;
const timeDigits = 15;

/** A time out of that range, as a bound may be, becomes the nearest one. */
function formatTime(at: number): string {
  const shifted = Math.min(Math.max(at + timeOffset, 0), 10 ** timeDigits - 1);
  return String(shifted).padStart(timeDigits, '0');
}

/** The time that a place was made of. */
export function timeOfPlace(place: string): number {
  return Number(place.slice(0, timeDigits)) - timeOffset;
}

export function isPlace(text: string): boolean {
  return /^\d{15}\.\d{15}$/.test(text);
}

/** The first and the last place that a range may hold. */
export function placesOf({ from, to }: TimeRange): { first: string; last: string } {
  return {
    first: from === undefined ? '0' : formatTime(from),
    last: to === undefined ? ':' : `${formatTime(to)}:`,
  };
}

/** A bound between a place and the next one, and between it and the one before: all places are of one length. */
export const justAfter = (place: string) => `${place}!`;
export const justBefore = (place: string) =>
  `${place.slice(0, -1)}${String.fromCharCode(place.charCodeAt(place.length - 1) - 1)}~`;

/** A record with everything that its request decides. */
export interface PlacedRecord extends NewRecord {
  readonly at: number;
  readonly place: string;
  readonly expiresAt: Date | undefined;
}

/** `firstArrival` is the request's first number in its session; the order within the request decides the rest. */
export function placeRecords(
  { records, retentionSecs }: AppendRequest,
  receivedAt: number,
  firstArrival: number,
): PlacedRecord[] {
  return records.map((record, index) => {
    const at = record.at ?? receivedAt;
    const expiresAt = retentionSecs === undefined ? undefined : new Date(at + retentionSecs * 1000);
    return { ...record, at, expiresAt, place: formatPlace(at, firstArrival + index) };
  });
}
