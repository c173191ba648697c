import type { SessionJobHandler } from '../lifecycle/session-job.ts';
import type { RetentionPolicy } from '../memory/retention.ts';
import type { ScheduleDescriptor } from '../schedules/schedule-descriptor.ts';
import type { AgentKind } from './agent-kind.ts';

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
> extends AgentKind<Agent> {
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

export interface AgentLimits {
  readonly sessionTimeoutSecs?: number | undefined;
  readonly sessionConcurrency?: number | undefined;
  readonly maxErrors?: number | undefined;
}
