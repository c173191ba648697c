import type { AgentDefinition } from './agent-definition.ts';

/** An agent by its definition, or by its name alone: then it has no callbacks. */
export type AgentRef = string | AgentDefinition;

export function agentName(agent: AgentRef): string {
  return typeof agent === 'string' ? agent : agent?.name;
}
