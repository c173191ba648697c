import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';
import type { ScheduleDescriptor } from '../schedules/schedule-descriptor.ts';
import type { RetentionPolicy } from './retention-policy.ts';

/** What a `dump` or `load` callback may want to know. */
export interface PersistenceContext {
  readonly agent: string;
  readonly key: string;
}

/** A kind of agent: its name and, all optional, how its states are dumped, loaded and checked, and what runs over its sessions. */
export interface AgentDefinition {
  readonly name: string;
  /** Checks a state before it is dumped. It only checks: what is stored is the state itself, not the schema's output. */
  readonly state?: StandardSchemaV1 | undefined;
  /** From the live form to what is stored. */
  // biome-ignore lint/suspicious/noExplicitAny: the live form is the user's own type
  readonly dump?: ((agent: any, context: PersistenceContext) => unknown) | undefined;
  /** From what is stored back to the live form, for instance to migrate an older version. */
  // biome-ignore lint/suspicious/noExplicitAny: the stored form may be any older version of it
  readonly load?: ((dump: any, context: PersistenceContext) => unknown) | undefined;
  readonly retention?: RetentionPolicy | undefined;
  readonly actions?: Readonly<Record<string, ActionHandler>> | undefined;
  readonly schedules?: readonly ScheduleDescriptor[] | undefined;
  readonly limits?: AgentLimits | undefined;
}

/** Runs once per session. Its value is the job's result. */
export type ActionHandler = SessionJobHandler;

export interface AgentLimits {
  readonly sessionTimeoutSecs?: number | undefined;
  readonly sessionConcurrency?: number | undefined;
  readonly maxErrors?: number | undefined;
}
