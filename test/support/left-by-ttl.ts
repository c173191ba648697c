import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { abandonedAfterMs } from '../../lib/defaults.ts';

/** What is left once DynamoDB has removed what expires within the quarter of an hour that tombstones are kept. */
export function leftByTtl<Row extends Record<string, AttributeValue>>(
  rows: readonly Row[],
  now: Date,
): Row[] {
  const then = Math.ceil((now.getTime() + abandonedAfterMs) / 1000);
  return rows.filter(({ ttl }) => ttl?.N === undefined || Number(ttl.N) > then);
}
