import type { AwsCalls } from './aws-calls.ts';
import { type DeployedStack, output } from './template.ts';

/** What the dispatcher is given by a rule or schedule. */
interface TickEvent {
  readonly agent: string;
  readonly action: string;
  readonly schedule: string;
  readonly time: string;
}

export interface Dispatcher {
  /** Resolves what it answers. */
  dispatch(tick: TickEvent): Promise<{ readonly started: number; readonly duplicate: number }>;
  /** As EventBridge does: nobody waits for the answer. */
  dispatchAsync(tick: TickEvent): Promise<void>;
}

export function dispatcher(aws: AwsCalls, stack: DeployedStack): Dispatcher {
  const path = `/2015-03-31/functions/${output(stack, 'DispatchFunctionName')}/invocations`;
  const invoke = (tick: TickEvent, type: string) =>
    aws.rest('lambda', 'POST', path, {
      headers: { 'content-type': 'application/json', 'x-amz-invocation-type': type },
      body: JSON.stringify(tick),
    });
  return {
    dispatch: async (tick) => JSON.parse(await invoke(tick, 'RequestResponse')),
    dispatchAsync: async (tick) => {
      await invoke(tick, 'Event');
    },
  };
}
