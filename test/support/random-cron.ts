import fc from 'fast-check';

/** A field of cron whose meaning is known because it was made from it. */
interface KnownField {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  /** Whether a range in it runs over the end, which not every cron takes. */
  readonly wraps: boolean;
}

export interface KnownCron {
  readonly text: string;
  readonly minute: KnownField;
  readonly hour: KnownField;
  readonly dayOfMonth: KnownField;
  readonly month: KnownField;
  readonly dayOfWeek: KnownField;
}

interface Limits {
  readonly first: number;
  readonly last: number;
  readonly names?: readonly string[];
}

const monthNames = ['Jan', 'FEB', 'mar', 'Apr', 'MAY', 'jun', 'Jul', 'AUG', 'sep', 'Oct', 'NOV', 'dec'];
const dayNames = ['Sun', 'MON', 'tue', 'Wed', 'THU', 'fri', 'Sat'];

/** Expressions of every kind: most of them plain, many with lists, ranges that wrap, steps and names. */
export const knownCron: fc.Arbitrary<KnownCron> = fc
  .record({
    minute: knownField({ first: 0, last: 59 }),
    hour: knownField({ first: 0, last: 23 }),
    dayOfMonth: knownField({ first: 1, last: 31 }),
    month: knownField({ first: 1, last: 12, names: monthNames }),
    dayOfWeek: knownField({ first: 0, last: 6, names: dayNames }),
  })
  .map((fields) => {
    const { minute, hour, dayOfMonth, month, dayOfWeek } = fields;
    const text = [minute, hour, dayOfMonth, month, dayOfWeek].map((field) => field.text).join(' ');
    return { ...fields, text };
  });

function knownField(limits: Limits): fc.Arbitrary<KnownField> {
  const item = knownItem(limits);
  const list = fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    values: new Set(items.flatMap(({ values }) => [...values])),
    wraps: items.some(({ wraps }) => wraps),
  }));
  const any = fc.constant({
    text: '*',
    values: new Set(counted(limits.first, limits.last, 1)),
    wraps: false,
  });
  return fc.oneof(
    { weight: 3, arbitrary: any },
    { weight: 3, arbitrary: item },
    { weight: 2, arbitrary: list },
  );
}

function knownItem({ first, last, names = [] }: Limits): fc.Arbitrary<KnownField> {
  const length = last - first + 1;
  const value = fc.integer({ min: first, max: last });
  const step = fc.integer({ min: 1, max: length });
  const spelling = fc.constantFrom('plain', 'padded', 'named');
  const spell = (number: number, how: string) =>
    how === 'named' ? (names[number - first] ?? `${number}`) : how === 'padded' ? `0${number}` : `${number}`;
  const isWeekday = length === 7;

  const single = fc.tuple(value, spelling).map(([number, how]) => ({
    text: isWeekday && number === 0 && how === 'plain' ? '7' : spell(number, how),
    values: new Set([number]),
    wraps: false,
  }));
  const range = fc.tuple(value, value, step, fc.boolean(), spelling).map(([from, to, by, stepped, how]) => {
    // A range that ends on Sunday ends on 7; by name some crons take it for the first day instead.
    const end = isWeekday && to === 0 ? 7 : to;
    const until = from > end ? end + length : end;
    return {
      text: `${spell(from, how)}-${end === 7 && isWeekday ? '7' : spell(end, how)}${stepped ? `/${by}` : ''}`,
      values: new Set(counted(from, until, stepped ? by : 1).map((n) => first + ((n - first) % length))),
      wraps: from > end,
    };
  });
  const every = step.map((by) => ({
    text: `*/${by}`,
    values: new Set(counted(first, last, by)),
    wraps: false,
  }));
  const onwards = fc
    .tuple(value, step)
    // Where a weekday step would arrive at 7, crons disagree, and it is refused.
    .filter(([from, by]) => !isWeekday || from === 0 || (7 - from) % by !== 0)
    .map(([from, by]) => ({
      text: `${from}/${by}`,
      values: new Set(counted(from, last, by)),
      wraps: false,
    }));
  return fc.oneof(single, range, every, onwards);
}

function counted(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
}

/** What cron's rule for its two day fields makes of one; `inexpressible` where AWS has no words for it. */
export function dayRuleOf({ dayOfMonth, dayOfWeek }: KnownCron): 'both' | 'either' | 'inexpressible' {
  const bothMustSuit = dayOfMonth.text.startsWith('*') || dayOfWeek.text.startsWith('*');
  const bothRestrict = dayOfMonth.values.size < 31 && dayOfWeek.values.size < 7;
  if (!bothMustSuit) return 'either';
  return bothRestrict ? 'inexpressible' : 'both';
}

/** Whether it fires on the day of a midnight in UTC. */
export function firesOnDay(cron: KnownCron, midnight: number): boolean {
  const date = new Date(midnight);
  if (!cron.month.values.has(date.getUTCMonth() + 1)) return false;
  const suits = [cron.dayOfMonth.values.has(date.getUTCDate()), cron.dayOfWeek.values.has(date.getUTCDay())];
  return dayRuleOf(cron) === 'either' ? suits.includes(true) : !suits.includes(false);
}
