import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { sdkError } from './failing-client.ts';

/** What happens to the request at which a call is interrupted. */
export type Interruption =
  /** It waits until the other call is over. */
  | 'paused'
  /** It is delivered, then the other call runs, then its copy arrives, whose answer the caller gets. */
  | 'delivered twice'
  /** It is lost, then the other call runs, then it is sent again. */
  | 'sent again'
  /** It is delivered, then the other call runs, and the answer is lost for good. */
  | 'answer lost';

/**
 * A client over a real one whose `at`-th request (from 0, of those that count) is interrupted by another call. `wasReached` tells whether
 * there was such a request.
 */
export function interruptedClient(
  client: DynamoDBClient,
  at: number,
  how: Interruption,
  meanwhile: () => Promise<unknown>,
  counts: (command: { name: string; input: unknown }) => boolean = () => true,
): { readonly client: DynamoDBClient; readonly wasReached: () => boolean } {
  let seen = 0;
  const send = async (command: { constructor: { name: string }; input: unknown }) => {
    if (!counts({ name: command.constructor.name, input: command.input }) || seen++ !== at)
      return client.send(command as never);
    if (how === 'paused') {
      await meanwhile();
      return client.send(command as never);
    }
    if (how !== 'sent again') await client.send(command as never).catch(() => {});
    await meanwhile();
    if (how === 'answer lost') throw sdkError('TimeoutError', 3);
    // As the SDK tells of an answer that it got only on its second attempt.
    const again = await client
      .send(command as never)
      .then((answer: object) => ({ ...answer, $metadata: { attempts: 2 } }))
      .catch((error: Error) => Object.assign(error, { $metadata: { attempts: 2 } }));
    if (again instanceof Error) throw again;
    return again;
  };
  return { client: { send } as unknown as DynamoDBClient, wasReached: () => seen > at };
}
