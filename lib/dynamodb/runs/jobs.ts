import { sessionShards } from '../../defaults.ts';
import type { LifecycleJob } from '../../lifecycle/lifecycle-job.ts';
import { formatJobPlace, type JobPlace, parseJobPlace } from '../../runs/job-place.ts';
import type { JobPage, JobQuery } from '../../runs/run-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { parseJobs } from './pages.ts';
import { pagePrefix, pageSortKey, type RunTable, shardKey } from './table.ts';

/** Pages read at a time; each holds up to a hundred jobs. */
const pagesAtOnce = 10;

/** Reads on over pages without a job that is wanted, and one job further than asked, so that `next` means that one follows. */
export async function listJobs(table: RunTable, query: JobQuery): Promise<JobPage> {
  const { ok, limit } = query;
  const found: { place: JobPlace; job: LifecycleJob }[] = [];
  const start = parseJobPlace(query.after);
  for (let shard = start?.shard ?? 0; shard < sessionShards && found.length <= limit; shard++) {
    const from = start?.shard === shard ? start : undefined;
    for await (const { page, item } of pageItems(table, { ...query, shard }, from?.page ?? 0)) {
      const first = from?.page === page ? from.index + 1 : 0;
      for (const [index, job] of (await parseJobs(item)).entries())
        if (index >= first && (ok === undefined || job.ok === ok))
          found.push({ place: { shard, page, index }, job });
      if (found.length > limit) break;
    }
  }
  const last = found[limit - 1];
  return {
    items: found.slice(0, limit).map(({ job }) => job),
    next: found.length > limit && last ? formatJobPlace(last.place) : undefined,
  };
}

async function* pageItems(
  { client, tableName }: RunTable,
  { ok, limit, ...shard }: JobQuery & { shard: number },
  firstPage: number,
): AsyncGenerator<{ page: number; item: Item }> {
  const parts = new ExpressionParts();
  const inShard = `pk = ${parts.value({ S: shardKey(shard) })}`;
  const fromPage = `sk >= ${parts.value({ S: pageSortKey(firstPage) })}`;
  const wanted =
    ok === undefined ? undefined : `${ok ? 'okHere' : 'failedHere'} > ${parts.value({ N: '0' })}`;
  const pages = queryPages(client, {
    TableName: tableName,
    KeyConditionExpression: `${inShard} AND ${fromPage}`,
    ...(wanted !== undefined && { FilterExpression: wanted }),
    // Unfiltered, one page may be all that is needed; filtered, most of them may hold nothing.
    ...(wanted === undefined && { limit: () => (limit < pagesAtOnce ? 1 : pagesAtOnce) }),
    ...parts.attributes,
  });
  for await (const items of pages) {
    for (const item of items) yield { page: Number(item.sk?.S?.slice(pagePrefix.length)), item };
  }
}
