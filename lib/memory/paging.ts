import { recentMaxPageSize, recentPageSize } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import { checkFields, fieldsOf } from '../input.ts';
import type { RecentQuery } from './agent-memory.ts';
import type { RecordQuery } from './memory-store.ts';
import { parseTimestamp } from './timestamp.ts';

type Paging = Pick<RecentQuery, 'limit' | 'order' | 'after'>;

const pagingFields = fieldsOf<Paging>()({ limit: 1, order: 1, after: 1 });
const recentFields = [
  ...fieldsOf<Omit<RecentQuery, keyof Paging>>()({ since: 1, until: 1, hours: 1 }),
  ...pagingFields,
];

/** @throws InvalidInputError naming the field */
export function checkPaging(query: Paging): RecordQuery {
  checkFields('query', query, pagingFields);
  return pagingOf(query);
}

function pagingOf({ limit = recentPageSize, order = 'asc', after }: Paging): RecordQuery {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > recentMaxPageSize)
    throw new InvalidInputError('limit', `must be a whole number from 1 to ${recentMaxPageSize}`);
  if (order !== 'asc' && order !== 'desc') throw new InvalidInputError('order', "must be 'asc' or 'desc'");
  if (after !== undefined && typeof after !== 'string')
    throw new InvalidInputError('after', 'must be the `next` of a page');
  return { limit, order, after };
}

/** @throws InvalidInputError naming the field */
export function checkRecent(query: RecentQuery, now: Date): RecordQuery {
  checkFields('query', query, recentFields);
  const { since, until, hours } = query;
  const paging = pagingOf(query);
  if (hours !== undefined && since !== undefined)
    throw new InvalidInputError('hours', 'hours and since cannot be combined: send one of them');
  if (hours !== undefined && (typeof hours !== 'number' || !(hours > 0)))
    throw new InvalidInputError('hours', 'must be a number above 0');
  const ago = hours === undefined ? undefined : Math.floor(now.getTime() - hours * 3_600_000);
  return {
    ...paging,
    from: since === undefined ? ago : parseTimestamp(since, 'since'),
    to: until === undefined ? undefined : parseTimestamp(until, 'until'),
  };
}
