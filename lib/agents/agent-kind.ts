import type { StandardSchemaV1 } from '@standard-schema/spec';

/** What a `dump` or `load` callback may want to know. */
export interface PersistenceContext {
  readonly agent: string;
  readonly key: string;
}

/** What persistence knows of a kind of agent. */
export interface AgentKind<
  // biome-ignore lint/suspicious/noExplicitAny: of one that says nothing of its live form nothing is known
  Agent = any,
> {
  readonly name: string;
  /** Checks a state before it is dumped. It only checks: what is stored is the state itself, not the schema's output. */
  readonly state?: StandardSchemaV1<Agent, unknown> | undefined;
  /** From the live form to what is stored. */
  readonly dump?: ((agent: Agent, context: PersistenceContext) => unknown) | undefined;
  /** From what is stored back to the live form, for instance to migrate an older version. */
  // biome-ignore lint/suspicious/noExplicitAny: the stored form may be any older version of it
  readonly load?: ((dump: any, context: PersistenceContext) => Agent | PromiseLike<Agent>) | undefined;
}

/** An agent by its definition, or by its name alone: then it has no callbacks. */
export type AgentRef = string | AgentKind;

export function agentName(agent: AgentRef): string {
  return typeof agent === 'string' ? agent : agent?.name;
}

/** The live form of a definition's instances: `unknown` where it says nothing of it. */
export type AgentOf<Definition> =
  Definition extends AgentKind<infer Agent> ? (0 extends 1 & Agent ? unknown : Agent) : unknown;
