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
  | 'answer lost'
  /** It is delivered, and no other one after it: the process has died. The other call comes later. */
  | 'the last one';

/**
 * A client over a real one whose `at`-th request (from 0, of those that count) is interrupted by another call. What is sent at once goes out
 * one after the other, so that the other call runs whole between two requests. `wasReached` tells whether there was such
 * a request; `aroundCopy` is told before and after the copy of a request arrives that was applied.
 */
export function interruptedClient(
  client: DynamoDBClient,
  at: number,
  how: Interruption,
  meanwhile: () => Promise<unknown>,
  {
    aroundCopy = async () => {},
    counts = () => true,
  }: {
    aroundCopy?: () => Promise<unknown>;
    counts?: (command: { name: string; input: unknown }) => boolean;
  } = {},
): { readonly client: DynamoDBClient; readonly wasReached: () => boolean } {
  let seen = 0;
  let last: Promise<unknown> = Promise.resolve();
  const interrupt = async (send: () => Promise<unknown>) => {
    if (how === 'paused') {
      await meanwhile();
      return send();
    }
    const applied =
      how !== 'sent again' &&
      (await send().then(
        () => true,
        () => false,
      ));
    if (how === 'the last one') throw sdkError('TimeoutError', 3);
    await meanwhile();
    if (how === 'answer lost') throw sdkError('TimeoutError', 3);
    if (applied) await aroundCopy();
    // As the SDK tells of an answer that it got only on its second attempt.
    const again = await send()
      .then((answer) => ({ ...(answer as object), $metadata: { attempts: 2 } }))
      .catch((error: Error) => Object.assign(error, { $metadata: { attempts: 2 } }));
    if (applied) await aroundCopy();
    if (again instanceof Error) throw again;
    return again;
  };
  const sendNext = (command: { constructor: { name: string }; input: unknown }) => {
    if (how === 'the last one' && seen > at) throw sdkError('TimeoutError', 3);
    const send = (): Promise<unknown> => client.send(command as never);
    if (!counts({ name: command.constructor.name, input: command.input })) return send();
    return seen++ === at ? interrupt(send) : send();
  };
  const send = (command: Parameters<typeof sendNext>[0]) => {
    const sent = last.then(() => sendNext(command));
    last = sent.catch(() => {});
    return sent;
  };
  return { client: { send } as unknown as DynamoDBClient, wasReached: () => seen > at };
}
