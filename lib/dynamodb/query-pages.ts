import { type DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { Item } from './item.ts';

/** `limit` is asked before each page: a list that needs few more items reads no more. */
export type PagedQuery = Omit<QueryCommandInput, 'ConsistentRead' | 'Limit'> & {
  readonly limit?: () => number;
};

/** What a query finds, strongly consistent, page by page, from `ExclusiveStartKey` on to the end of its range. */
export async function* queryPages(
  client: DynamoDBClient,
  { limit, ExclusiveStartKey, ...query }: PagedQuery,
): AsyncGenerator<Item[], void, undefined> {
  let startKey = ExclusiveStartKey;
  do {
    const page = { ...query, ConsistentRead: true, Limit: limit?.(), ExclusiveStartKey: startKey };
    const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand(page));
    yield Items;
    // An empty map, as some emulators end with, is an end like an absent one.
    startKey = LastEvaluatedKey?.pk === undefined ? undefined : LastEvaluatedKey;
  } while (startKey !== undefined);
}
