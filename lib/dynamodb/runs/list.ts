import { checkRunPlace } from '../../runs/job-place.ts';
import type { StoredRun } from '../../runs/run.ts';
import type { RunPage, RunQuery } from '../../runs/run-store.ts';
import { ExpressionParts } from '../expression.ts';
import type { Item } from '../item.ts';
import { checkedKey } from '../item.ts';
import { queryPages } from '../query-pages.ts';
import { runsTable } from '../tables.ts';
import { parseRun } from './record.ts';
import { actionRunKey, type RunTable, runSortKey, runsKey } from './table.ts';

/** Newest first; by the index where one action is asked for, so that rare actions are found among many others. */
export async function listRuns({ client, tableName }: RunTable, query: RunQuery): Promise<RunPage> {
  const { agent, action, limit } = query;
  checkedKey(runsKey(agent), action === undefined ? '' : actionRunKey(action, ''));
  const after = checkRunPlace(query.after);
  const found: StoredRun[] = [];
  const parts = new ExpressionParts();
  const ofAgent = `pk = ${parts.value({ S: runsKey(agent) })}`;
  const [attribute, prefix] =
    action === undefined ? ['sk', runSortKey('')] : ['actionRun', actionRunKey(action, '')];
  const pages = queryPages(client, {
    TableName: tableName,
    ...(action !== undefined && { IndexName: runsTable.localIndex?.name }),
    KeyConditionExpression: `${ofAgent} AND begins_with(${attribute}, ${parts.value({ S: prefix })})`,
    ScanIndexForward: false,
    limit: () => limit + 1 - found.length,
    ExclusiveStartKey: after === undefined ? undefined : placeOf(query, after),
    ...parts.attributes,
  });
  for await (const items of pages) {
    for (const item of items) found.push(parseRun(agent, item));
    if (found.length > limit) break;
  }
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.runId : undefined };
}

function placeOf({ agent, action }: RunQuery, runId: string): Item {
  return {
    pk: { S: runsKey(agent) },
    sk: { S: runSortKey(runId) },
    ...(action !== undefined && { actionRun: { S: actionRunKey(action, runId) } }),
  };
}
