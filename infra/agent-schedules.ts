import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import type { ScheduleDescriptor } from '../lib/schedules/schedule-descriptor.ts';

/** A schedule of a defined agent. */
export interface AgentSchedule {
  readonly agent: string;
  readonly descriptor: ScheduleDescriptor;
}

export function schedulesOf(agents: Iterable<AgentDefinition>): readonly AgentSchedule[] {
  return [...agents].flatMap(({ name: agent, schedules = [] }) =>
    schedules.map((descriptor) => ({ agent, descriptor })),
  );
}
