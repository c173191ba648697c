import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface SentCommand {
  readonly name: string;
  readonly input: unknown;
}

/** What happens to one request: it reaches DynamoDB or not, and its answer reaches the caller or an error does. */
export type Fate = 'pass' | { readonly applied: boolean; readonly error: Error };

/** A client over a real one that decides the fate of each request by its number (from 0) and command. */
export function clientWithFate(
  client: DynamoDBClient,
  fateOf: (index: number, command: SentCommand) => Fate,
): { readonly client: DynamoDBClient; readonly sent: SentCommand[] } {
  const sent: SentCommand[] = [];
  const send = async (command: { constructor: { name: string }; input: unknown }) => {
    const request = { name: command.constructor.name, input: command.input };
    const fate = fateOf(sent.length, request);
    sent.push(request);
    if (fate === 'pass') return client.send(command as never);
    if (fate.applied) await client.send(command as never);
    throw fate.error;
  };
  return { client: { send } as unknown as DynamoDBClient, sent };
}

export const isWrite = ({ name }: SentCommand) => /^(Put|Update|Delete)Item/.test(name);

export function sdkError(name: string, attempts = 1): Error {
  return Object.assign(new Error(`${name} from a test`), { name, $metadata: { attempts } });
}
