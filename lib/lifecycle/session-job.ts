import type { AgentMemory } from '../memory/agent-memory.ts';
import type { AgentHandle, AgentHandles, AgentInstance } from '../persistence/agent-handle.ts';
import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import type { Identity, Session } from '../sessions/session.ts';
import type { Secrets } from './secrets.ts';

/** Where a handler writes what an operator may want to read. */
export interface JobLogger {
  info(message: string, details?: Record<string, unknown>): void;
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

export interface SessionJobContext<
  // biome-ignore lint/suspicious/noExplicitAny: as in `AgentDefinition`
  Agent = any,
> {
  readonly action: string;
  readonly runtime: AgentRuntime;
  /** The memory of this session, as the identity sees it. */
  memory(identity?: Identity): AgentMemory;
  /** An instance of this agent, the one whose key is the session's id unless another is named. */
  instance(key?: string): AgentInstance<Agent>;
  /** This agent, or another one, and its instances; where there are tenants, of the same tenant. */
  agent(name?: string): AgentHandle;
  /**
   * The value of a secret: the variable of this name, or what the deployment keeps under it. Rejects `secret_unavailable`
   * where there is none, or it cannot be read.
   */
  secret(name: string): Promise<string>;
  readonly runId: string;
  /** The same for every attempt at this session in this run, and for nothing else. */
  readonly idempotencyKey: string;
  /** When the run began. */
  readonly now: Date;
  /** Aborted when the session's time is up, or the run is called off. Hand it to whatever takes long. */
  readonly signal: AbortSignal;
  readonly logger: JobLogger;
}

/** Runs once per session. Its value is the job's result. */
// biome-ignore lint/suspicious/noExplicitAny: as in `AgentDefinition`
export type SessionJobHandler<Agent = any> = (session: Session, context: SessionJobContext<Agent>) => unknown;

export interface SessionJobOptions {
  /** Which sessions, in which order; all registered ones unless given. */
  readonly sessions?: Iterable<Session> | AsyncIterable<Session> | undefined;
  readonly concurrency?: number | undefined;
  readonly timeoutSecs?: number | undefined;
  /** Without it, one is made. The same one for a run that goes on after a crash. */
  readonly runId?: string | undefined;
  readonly now?: Date | undefined;
  /** Once aborted, no further session is begun, and those under way are told. */
  readonly signal?: AbortSignal | undefined;
  /** Asked as each session is about to begin. From the first no on none is begun, and those under way go on. */
  readonly mayBegin?: (() => boolean) | undefined;
  readonly logger?: JobLogger | undefined;
  /** Finds instances for `context.instance` and `context.agent`: see `agentHandles`. */
  readonly handles?: AgentHandles | undefined;
  /** Finds values for `context.secret` that are no variables of the process. */
  readonly secrets?: Secrets | undefined;
}
