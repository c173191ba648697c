import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamoDbStore } from '../../lib/dynamodb/dynamodb-store.ts';
import { snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { hibernate } from '../../lib/persistence/hibernate.ts';
import { thaw } from '../../lib/persistence/thaw.ts';
import { withEmbeddedProcess } from './embedded-process.ts';
import { inTurn, median } from './measure.ts';

const warmUp = 300;
const rounds = 3_000;

/** A support conversation of about 1 KB. */
const state = {
  mood: 'calm',
  turns: Array.from({ length: 8 }, (_, turn) => ({
    id: `turn-${turn}`,
    role: turn % 2 ? 'assistant' : 'user',
    text: `Message ${turn}: the parcel ${turn * 7919} left the depot and is due on day ${turn}.`,
  })),
};

export interface Ratio {
  readonly what: string;
  readonly baseline: string;
  readonly ms: number;
  readonly baselineMs: number;
}

/** A warm hibernate and thaw against the bare PutItem and GetItem of the same state as JSON, through the same client. */
export async function warmCalls(): Promise<Ratio[]> {
  return withEmbeddedProcess(async ({ client, tableName }) => {
    const TableName = tableName(snapshotsTable);
    const store = dynamoDbStore({ client, tableName: TableName });
    const bare = { pk: { S: 'bare' }, sk: { S: 'bare' } };

    const calls = {
      put: () => {
        const body = { B: Buffer.from(JSON.stringify(state)) };
        return client.send(new PutItemCommand({ TableName, Item: { ...bare, body } }));
      },
      hibernate: async () => expectOk(await hibernate({ store }, 'bench', 'bench', state)),
      get: async () => {
        const { Item } = await client.send(
          new GetItemCommand({ TableName, Key: bare, ConsistentRead: true }),
        );
        return JSON.parse(Buffer.from(Item?.body?.B ?? []).toString());
      },
      thaw: async () => expectOk(await thaw({ store }, 'bench', 'bench')),
    };
    const times = await inTurn(calls, { warmUp, rounds });
    const ratio = (
      what: keyof typeof calls,
      baseline: keyof typeof calls,
      names: [string, string],
    ): Ratio => ({
      ...{ what: names[0], baseline: names[1], ms: median(times[what]), baselineMs: median(times[baseline]) },
    });
    return [
      ratio('hibernate', 'put', ['warm hibernate, 1 KB', 'bare PutItem']),
      ratio('thaw', 'get', ['warm thaw, 1 KB', 'bare GetItem']),
    ];
  });
}

function expectOk(result: { status: string }): void {
  if (result.status !== 'ok') throw new Error(`the call was answered with ${result.status}`);
}
