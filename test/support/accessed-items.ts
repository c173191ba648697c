import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isWrite, type SentCommand } from './failing-client.ts';

/** What a request has to do with: an item, or the whole partition that it queries. */
export interface Access {
  readonly name: string;
  readonly table: string;
  readonly partition: string;
  readonly item: string | undefined;
  readonly writes: boolean;
}

interface Input {
  readonly TableName: string;
  readonly Key?: Record<string, AttributeValue>;
  readonly Item?: Record<string, AttributeValue>;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue>;
}

/** A client that notes down what its requests have to do with. */
export function notingClient(client: DynamoDBClient, note: (access: Access) => void): DynamoDBClient {
  const send = (command: { constructor: { name: string }; input: unknown }) => {
    note(accessOf({ name: command.constructor.name, input: command.input }));
    return client.send(command as never);
  };
  return { send } as unknown as DynamoDBClient;
}

function accessOf(command: SentCommand): Access {
  const input = command.input as Input;
  const key = input.Key ?? input.Item;
  const asked = /^pk = (:\w+)/.exec(input.KeyConditionExpression ?? '')?.[1] ?? '';
  const partition = key?.pk?.S ?? input.ExpressionAttributeValues?.[asked]?.S;
  if (partition === undefined) throw new Error(`${command.name} names no partition`);
  const { name } = command;
  return { name, table: input.TableName, partition, item: key?.sk?.S, writes: isWrite(command) };
}

/** Two requests that do not meet have the same effects and answers in either order. */
export function meet(one: Access, other: Access): boolean {
  if (!one.writes && !other.writes) return false;
  const sameItem = one.item === undefined || other.item === undefined || one.item === other.item;
  return one.table === other.table && one.partition === other.partition && sameItem;
}
