import type { ScheduleField } from './invalid-schedule-error.ts';

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** What may be written in one field of an expression. */
export interface TimeField {
  readonly name: ScheduleField;
  readonly min: number;
  readonly max: number;
  /** How many values differ: less than min to max where the last one means the first again (7 is Sunday, as 0). */
  readonly period: number;
  /** Names in place of numbers, the first one meaning `min`. */
  readonly names: readonly string[];
  /** The largest step; 0 where steps are not allowed. */
  readonly maxStep: number;
  /** Whether a range may run over the end (22-2). */
  readonly wraps: boolean;
}

function field(name: ScheduleField, min: number, max: number, rest: Partial<TimeField> = {}): TimeField {
  return { name, min, max, period: max - min + 1, names: [], maxStep: max - min + 1, wraps: true, ...rest };
}

/** The fields of cron. A step as long as the field is harmless, a longer one is a misunderstanding (every 90 minutes). */
export const unixFields = {
  minute: field('minute', 0, 59),
  hour: field('hour', 0, 23),
  dayOfMonth: field('dayOfMonth', 1, 31),
  month: field('month', 1, 12, { names: monthNames }),
  dayOfWeek: field('dayOfWeek', 0, 7, { names: dayNames, period: 7, maxStep: 7 }),
} as const;

/** The fields of an AWS cron expression: weekdays from 1, no steps in them, no step above a field's maximum. */
export const awsFields = {
  minute: field('minute', 0, 59, { maxStep: 59 }),
  hour: field('hour', 0, 23, { maxStep: 23 }),
  dayOfMonth: field('dayOfMonth', 1, 31),
  month: field('month', 1, 12, { names: monthNames }),
  dayOfWeek: field('dayOfWeek', 1, 7, { names: dayNames, maxStep: 0 }),
  year: field('year', 1970, 2199, { wraps: false }),
} as const;
