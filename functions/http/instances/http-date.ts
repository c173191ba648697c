const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';
const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longDay = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';

/** RFC 9110, 5.6.7: the format of today, and the two obsolete ones that a recipient must take (RFC 850, asctime). */
const formats = [
  new RegExp(`^${shortDay}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longDay}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${shortDay} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/** Epoch seconds of an HTTP-date; undefined for anything else, such as a list of dates or a day that does not exist. */
export function parseHttpDate(text: string, now: Date): number | undefined {
  for (const format of formats) {
    const parts = format.exec(text.trim())?.groups;
    if (parts !== undefined) return secondsOf(parts, now);
  }
  return undefined;
}

function secondsOf(parts: Readonly<Record<string, string>>, now: Date): number | undefined {
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const year = fullYear(parts.year ?? '', now);
  const date = new Date(0);
  date.setUTCFullYear(year, months.indexOf(parts.month ?? ''), day);
  // A second of 60 is a leap second.
  const exists = date.getUTCDate() === day && hour < 24 && minute < 60 && second <= 60;
  return exists ? date.setUTCHours(hour, minute, second) / 1000 : undefined;
}

/** Two digits that seem more than 50 years ahead are the last past year that ends so. */
function fullYear(digits: string, now: Date): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = now.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
