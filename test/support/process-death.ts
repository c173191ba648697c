import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { clientWithFate, isWrite, sdkError } from './failing-client.ts';

/** From its `writes`-th write on, nothing of this process reaches DynamoDB any more; that one does, or not. */
export function dyingClient(client: DynamoDBClient, writes: number, applied: boolean) {
  let seen = 0;
  const dying = clientWithFate(client, (_index, command) => {
    if (isWrite(command)) seen++;
    if (seen < writes) return 'pass';
    return { applied: applied && seen === writes && isWrite(command), error: sdkError('TimeoutError') };
  });
  return { client: dying.client, hasDied: () => seen >= writes };
}

export interface MortalCall {
  prepare(): Promise<unknown>;
  /** What the process does through its client. */
  call(client: DynamoDBClient): Promise<unknown>;
  check(acknowledged: boolean): Promise<void>;
}

/** Makes the call in a process that dies at its first write, its second, …, until it needs no more. Resolves the deaths. */
export async function atEveryWrite(
  client: DynamoDBClient,
  { prepare, call, check }: MortalCall,
): Promise<number> {
  let deaths = 0;
  for (const applied of [false, true]) {
    for (let writes = 1, hasDied = true; hasDied; writes++) {
      await prepare();
      const dying = dyingClient(client, writes, applied);
      const acknowledged = await call(dying.client).then(
        () => true,
        () => false,
      );
      hasDied = dying.hasDied();
      await check(acknowledged);
      if (hasDied) deaths++;
    }
  }
  return deaths;
}
