import type { FieldItem, ParsedField } from './parse-field.ts';

/** Which of the two day fields decides; `either`: a day that suits one of them is enough. */
export type DayRule = 'every' | 'dayOfMonth' | 'dayOfWeek' | 'either';

/** Five-field cron, read. */
export interface UnixCron {
  readonly minute: ParsedField;
  readonly hour: ParsedField;
  readonly dayOfMonth: ParsedField;
  readonly month: ParsedField;
  readonly dayOfWeek: ParsedField;
  readonly days: DayRule;
}

/** The longest schedule expression that EventBridge takes, in characters. */
export const expressionMaxChars = 256;

/**
 * Spells cron for AWS, close to how it was written: weekdays counted from Sunday, 1, and one `?` in place of the day
 * field that does not decide. Two expressions where either day field decides; a day that suits both is in both.
 */
export function spellAwsCron(cron: UnixCron): string[] {
  const plain = assemble(cron, spellField, (days) => spellValues(days));
  const fits = plain.every((expression) => expression.length <= expressionMaxChars);
  return fits ? plain : assemble(cron, (field) => spellRuns(field.values), spellRuns);
}

function assemble(
  { minute, hour, dayOfMonth, month, dayOfWeek, days }: UnixCron,
  spell: (field: ParsedField) => string,
  spellDays: (days: readonly number[]) => string,
): string[] {
  const [time, months] = [`${spell(minute)} ${spell(hour)}`, spell(month)];
  if (days === 'every') return [`cron(${time} * ${months} ? *)`];
  const byDate = `cron(${time} ${spell(dayOfMonth)} ${months} ? *)`;
  const byWeekday = `cron(${time} ? ${months} ${spellDays(dayOfWeek.values.map((day) => day + 1))} *)`;
  return { dayOfMonth: [byDate], dayOfWeek: [byWeekday], either: [byDate, byWeekday] }[days];
}

/** Item by item as written, in ascending order, unless that would put a step into a list or name a value twice. */
function spellField({ items, values, full }: ParsedField): string {
  if (full) return '*';
  const [item, ...more] = items;
  if (item !== undefined && more.length === 0) return spellItem(item);
  const plain = items.every(({ from, to, step }) => from <= to && step === 1);
  const distinct = items.reduce((count, { values }) => count + values.length, 0) === values.length;
  if (!plain || !distinct) return spellValues(values);
  return [...items]
    .sort((a, b) => a.from - b.from)
    .map(spellItem)
    .join(',');
}

function spellItem({ from, to, step, open, values }: FieldItem): string {
  if (values.length === 1) return `${values[0]}`;
  if (from > to) return values.join(',');
  if (step === 1) return `${from}-${to}`;
  return open ? `${from}/${step}` : `${from}-${to}/${step}`;
}

function spellValues(values: readonly number[]): string {
  const runs = spellRuns(values);
  return runs.includes(',') ? values.join(',') : runs;
}

/** The shortest spelling without steps: 1-3,7,8. */
function spellRuns(values: readonly number[]): string {
  const runs: { first: number; last: number }[] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run !== undefined && value === run.last + 1) run.last = value;
    else runs.push({ first: value, last: value });
  }
  return runs
    .map(({ first, last }) =>
      last === first ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`,
    )
    .join(',');
}
