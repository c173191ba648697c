import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { checkRunPlace } from '../runs/job-place.ts';
import type { StoredRun } from '../runs/run.ts';
import type { RunPage, RunQuery } from '../runs/run-store.ts';
import { checkedKey } from './checked-key.ts';
import { ExpressionParts } from './expression.ts';
import type { Item } from './item.ts';
import { parseRun } from './run-record.ts';
import { actionRunKey, type RunTable, runSortKey, runsKey } from './run-table.ts';
import { runsTable } from './tables.ts';

/** Newest first; by the index where one action is asked for, so that rare actions are found among many others. */
export async function listRuns({ client, tableName }: RunTable, query: RunQuery): Promise<RunPage> {
  const { agent, action, limit } = query;
  checkedKey(runsKey(agent), action === undefined ? '' : actionRunKey(action, ''));
  const after = checkRunPlace(query.after);
  const found: StoredRun[] = [];
  let startKey: Item | undefined = after === undefined ? undefined : placeOf(query, after);
  do {
    const parts = new ExpressionParts();
    const ofAgent = `pk = ${parts.value({ S: runsKey(agent) })}`;
    const [attribute, prefix] =
      action === undefined ? ['sk', runSortKey('')] : ['actionRun', actionRunKey(action, '')];
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: tableName,
        ...(action !== undefined && { IndexName: runsTable.localIndex?.name }),
        KeyConditionExpression: `${ofAgent} AND begins_with(${attribute}, ${parts.value({ S: prefix })})`,
        ConsistentRead: true,
        ScanIndexForward: false,
        Limit: limit + 1 - found.length,
        ExclusiveStartKey: startKey,
        ...parts.attributes,
      }),
    );
    for (const item of Items) found.push(parseRun(agent, item));
    startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
  } while (startKey !== undefined && found.length <= limit);
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
