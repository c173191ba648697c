import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Adds up the write units that DynamoDB says it bills: those of the embedded one, which counts as the real one does. */
export interface WriteMeter {
  /** Since the last call of this. */
  take(): number;
}

export function meterWrites(client: DynamoDBClient): WriteMeter {
  let units = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const isWrite = /^(Put|Update|Delete)Item/.test(context.commandName ?? '');
      if (!isWrite) return next(args);
      const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
      const result = await next({ ...args, input: input as typeof args.input });
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
      units += ConsumedCapacity?.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize', name: 'meterWrites' },
  );
  return {
    take() {
      const taken = units;
      units = 0;
      return taken;
    },
  };
}
