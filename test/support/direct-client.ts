import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDb } from '../../infra/local/dynalite-requests.ts';

/**
 * A client of an embedded DynamoDB that does without the SDK's layers, its retries included: for tests of very many
 * requests, each of which costs it half. Its answers and errors are the SDK's, as far as the library looks at them.
 */
export function directClient(requests: DynamoDb): DynamoDBClient {
  const send = async ({
    constructor: { name },
    input,
  }: {
    constructor: { name: string };
    input: unknown;
  }) => {
    const operation = name.replace(/Command$/, '');
    const { statusCode, body } = await requests(`DynamoDB_20120810.${operation}`, withBase64(input));
    const answer = JSON.parse(body, withBytes);
    if (statusCode === 200) return { ...answer, $metadata: { attempts: 1 } };
    const type = String(answer.__type);
    throw Object.assign(new Error(answer.message), {
      name: type.slice(type.indexOf('#') + 1),
      $metadata: { attempts: 1 },
    });
  };
  return { send } as unknown as DynamoDBClient;
}

function withBase64(input: unknown): string {
  return JSON.stringify(input, function (this: Record<string, unknown>, key, value) {
    // A Buffer has turned itself into something else by the time it is `value`.
    const given = this[key];
    return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
  });
}

function withBytes(key: string, value: unknown): unknown {
  return key === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
