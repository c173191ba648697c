import { actionNames } from '../lib/agents/actions.ts';
import type { AgentDefinition } from '../lib/agents/agent-definition.ts';
import type { ScheduleDescriptor } from '../lib/schedules/schedule-descriptor.ts';

/** A schedule of a defined agent. */
export interface AgentSchedule {
  readonly agent: string;
  readonly descriptor: ScheduleDescriptor;
}

/** The actions of each agent, those that it resolves included. */
export async function actionNamesOf(
  agents: Iterable<AgentDefinition>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const named = [...agents].map(async (agent) => [agent.name, (await actionNames(agent)) ?? []] as const);
  return Object.fromEntries(await Promise.all(named));
}

export function schedulesOf(agents: Iterable<AgentDefinition>): readonly AgentSchedule[] {
  return [...agents].flatMap(({ name: agent, schedules = [] }) =>
    schedules.map((descriptor) => ({ agent, descriptor })),
  );
}
