import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type DynamoDb, requestHandlerOver } from '../../infra/local/dynalite-requests.ts';

export const faults = [
  ...['throttled', 'failed before', 'failed after', 'reset before', 'reset after'],
  ...['cut answer', 'late delivery', 'late answer'],
] as const;
export type Fault = (typeof faults)[number];

interface Answered {
  response: { statusCode: number; headers: Record<string, string>; body: Buffer };
}
type Handle = ReturnType<typeof requestHandlerOver>['handle'];

/**
 * The SDK's own client, its retries included, over a DynamoDB between which and it things go wrong: what happens to each
 * request, `faultOf` decides. A request that is delivered late arrives after its caller was told that it is lost.
 */
export function faultyClient(
  requests: DynamoDb,
  faultOf: (target: string) => Fault | undefined,
  { lateMs = 20, maxAttempts = 4 }: { lateMs?: number; maxAttempts?: number } = {},
): { client: DynamoDBClient; settled: () => Promise<unknown> } {
  const { handle } = requestHandlerOver(requests);
  const late = new Set<Promise<unknown>>();
  const deliverLate = (send: () => Promise<unknown>, ms: number) => {
    const delivery = pause(ms).then(send);
    late.add(delivery);
    void delivery.finally(() => late.delete(delivery));
  };
  const faulty = async (...[request, options]: Parameters<Handle>): Promise<Answered> => {
    const send = () => handle(request, options);
    switch (faultOf(request.headers['x-amz-target'] ?? '')) {
      case 'throttled':
        return refusal(400, 'ProvisionedThroughputExceededException');
      case 'failed before':
        return refusal(500, 'InternalServerError');
      case 'failed after':
        await send();
        return refusal(500, 'InternalServerError');
      case 'reset before':
        throw lost('ECONNRESET');
      case 'reset after':
        await send();
        throw lost('ECONNRESET');
      case 'cut answer': {
        const { response } = await send();
        return { response: { ...response, body: response.body.subarray(0, response.body.length / 2) } };
      }
      case 'late delivery':
        deliverLate(() => handle(request), lateMs * Math.random() * 2);
        throw lost('ECONNRESET');
      case 'late answer':
        await send();
        await pause(lateMs);
        throw lost('TimeoutError');
      case undefined:
        return send();
    }
  };
  const client = new DynamoDBClient({
    endpoint: 'http://faulty.invalid',
    requestHandler: { handle: faulty },
    region: 'local',
    maxAttempts,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    // Nobody looks at a signature, and thousands of them take seconds.
    signer: { sign: async (request) => request },
  });
  return { client, settled: () => Promise.all(late) };
}

function refusal(statusCode: number, type: string): Answered {
  const body = Buffer.from(
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type }),
  );
  return { response: { statusCode, headers: { 'content-type': 'application/x-amz-json-1.0' }, body } };
}

function lost(code: string): Error {
  return Object.assign(new Error(code), { name: code, code });
}
