import { InvalidScheduleError } from './invalid-schedule-error.ts';
import type { TimeField } from './time-field.ts';

/** One item of a field's list, as written: `5`, `1-5`, `1-5/2`, `5/2`, `*`, `*` with a step. */
export interface FieldItem {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** Whether the end was left to the field: `5/2` or `*`. */
  readonly open: boolean;
  /** In the order of the item, so that 22-2 reads 22, 23, 0, 1, 2. */
  readonly values: readonly number[];
}

export interface ParsedField {
  readonly items: readonly FieldItem[];
  /** Each value once, ascending; Sunday is 0 in cron. */
  readonly values: readonly number[];
  /** Every value the field has. */
  readonly full: boolean;
  /** Whether it begins with `*`, by which cron decides how its two day fields are joined. */
  readonly starred: boolean;
}

const itemPattern = /^(?:(\*)|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d+))?$/i;

/** Reads one field into its values. @throws InvalidScheduleError naming the field */
export function parseField(field: TimeField, text: string): ParsedField {
  const items = text.split(',').map((item) => parseItem(field, item));
  const values = [...new Set(items.flatMap((item) => item.values))].sort((a, b) => a - b);
  return { items, values, full: values.length === field.period, starred: text.startsWith('*') };
}

function parseItem(field: TimeField, text: string): FieldItem {
  const [matched, star, first, last, stepText] = itemPattern.exec(text) ?? [];
  if (matched === undefined)
    throw refused(field, text, `is no number, name, range or step${extrasHint(text)}`);
  const step = stepText === undefined ? 1 : parseStep(field, text, stepText);
  const from = star ? field.min : parseValue(field, text, first);
  const open = star !== undefined || (stepText !== undefined && last === undefined);
  const to = open ? field.max : last === undefined ? from : parseValue(field, text, last);
  if (from > to && !field.wraps) throw refused(field, text, 'runs backwards');
  if (open && !star) checkOpenEnd(field, text, from, step);
  return { from, to, step, open, values: valuesBetween(field, from, to, step) };
}

function parseValue(field: TimeField, text: string, value = ''): number {
  const { min, max, names } = field;
  const named = names.indexOf(value.toUpperCase());
  const number = named >= 0 ? min + named : /^\d+$/.test(value) ? Number(value) : undefined;
  const allowed =
    names.length > 0 ? `${min} to ${max} or ${names[0]} to ${names.at(-1)}` : `${min} to ${max}`;
  if (number === undefined) throw refused(field, text, `must be ${allowed}${extrasHint(value)}`);
  if (number < min || number > max) throw refused(field, text, `is outside ${allowed}`);
  return number;
}

/** What other crons offer beyond the five fields, and AWS too, but only in its own form. */
function extrasHint(text: string): string {
  return /[?#]|\dL$|^L|^\d*W$/i.test(text)
    ? '; ?, L, W and # belong to the AWS form, cron(...) with six fields'
    : '';
}

function parseStep(field: TimeField, text: string, step: string): number {
  if (field.maxStep === 0) throw refused(field, text, 'has a step, which AWS does not know there');
  const number = Number(step);
  if (number < 1) throw refused(field, text, 'has a step of 0');
  if (number > field.maxStep) {
    throw refused(
      field,
      text,
      `has a step above ${field.maxStep}; steps start anew with each round of the field`,
    );
  }
  return number;
}

/** Crons disagree on whether `1/2` in the weekday field ends on Saturday or on the Sunday that is 7. */
function checkOpenEnd(field: TimeField, text: string, from: number, step: number): void {
  const { min, max, period } = field;
  const lastRepeatsFirst = max - min + 1 > period;
  if (lastRepeatsFirst && from > min && from < max && (max - from) % step === 0) {
    const [without, including] = [`${from}-${max - 1}/${step}`, `${from}-${max}/${step}`];
    throw refused(field, text, `is read in two ways: write ${without}, or ${including} to include ${max}`);
  }
}

function valuesBetween(field: TimeField, from: number, to: number, step: number): number[] {
  const { min, period } = field;
  const values: number[] = [];
  for (let value = from; value <= (from > to ? to + period : to); value += step) {
    values.push(min + ((value - min) % period));
  }
  return [...new Set(values)];
}

function refused(field: TimeField, text: string, problem: string): InvalidScheduleError {
  return new InvalidScheduleError(field.name, `'${text}' ${problem}`);
}
