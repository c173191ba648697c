import { type Dispatched, handler } from '../../functions/lifecycle/dispatch.ts';
import { type Services, useServices } from '../../functions/services.ts';
import type { ScheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';

/** Hands the tick of a schedule to the dispatcher's handler, as EventBridge does. */
export type Fire = (agent: string, schedule: ScheduleDescriptor, at: Date) => Promise<Dispatched>;

export function fireOver(services: Services): Fire {
  return (agent, { name, action }, at) => {
    useServices(services);
    return handler({ agent, action, schedule: name, time: at.toISOString() });
  };
}
