import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';
import type { ScheduleDescriptor } from '../schedules/schedule-descriptor.ts';
import type { RetentionPolicy } from './retention-policy.ts';

/** What a `dump` or `load` callback may want to know. */
export interface PersistenceContext {
  readonly agent: string;
  readonly key: string;
}

/** Actions that every agent has without writing them. */
export type BuiltInAction = 'prune-raw-memory';

/**
 * A kind of agent: its name and, all optional, how its states are dumped, loaded and checked, and what runs over its
 * sessions. `Agent` is the live form, as its schema says or its `load` returns it; `Action` are the names of its actions.
 */
export interface AgentDefinition<
  // biome-ignore lint/suspicious/noExplicitAny: of a definition that says nothing of its live form nothing is known
  Agent = any,
  Action extends string = string,
> {
  readonly name: string;
  /** Checks a state before it is dumped. It only checks: what is stored is the state itself, not the schema's output. */
  readonly state?: StandardSchemaV1<Agent, unknown> | undefined;
  /** From the live form to what is stored. */
  readonly dump?: ((agent: Agent, context: PersistenceContext) => unknown) | undefined;
  /** From what is stored back to the live form, for instance to migrate an older version. */
  // biome-ignore lint/suspicious/noExplicitAny: the stored form may be any older version of it
  readonly load?: ((dump: any, context: PersistenceContext) => Agent | PromiseLike<Agent>) | undefined;
  readonly retention?: RetentionPolicy | undefined;
  /** As they are, or resolved on first use, for instance by `() => import('./support-actions.ts')`: by workers only. */
  readonly actions?: Actions<Agent, Action> | LazyActions<Agent, Action> | undefined;
  readonly schedules?: readonly ScheduleDescriptor[] | undefined;
  readonly limits?: AgentLimits | undefined;
}

type Actions<Agent, Action extends string> = Readonly<Record<Action, ActionHandler<Agent>>>;

/** A module whose default export they are. */
type LazyActions<Agent, Action extends string> = () => PromiseLike<{
  readonly default: Actions<Agent, Action>;
}>;

/** Runs once per session. Its value is the job's result. */
// biome-ignore lint/suspicious/noExplicitAny: as in `AgentDefinition`
export type ActionHandler<Agent = any> = SessionJobHandler<Agent>;

/** The live form of a definition's instances: `unknown` where it says nothing of it. */
export type AgentOf<Definition> =
  Definition extends AgentDefinition<infer Agent, infer _Action>
    ? 0 extends 1 & Agent
      ? unknown
      : Agent
    : unknown;

export interface AgentLimits {
  readonly sessionTimeoutSecs?: number | undefined;
  readonly sessionConcurrency?: number | undefined;
  readonly maxErrors?: number | undefined;
}
