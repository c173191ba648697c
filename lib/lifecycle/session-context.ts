import { InvalidInputError } from '../errors.ts';
import type { AgentHandles } from '../persistence/agent-handle.ts';
import type { AgentRuntime } from '../runtime/agent-runtime.ts';
import type { Session } from '../sessions/session.ts';
import type { JobTimeoutError } from './job-outcome.ts';
import { type Secrets, secretValue } from './secrets.ts';
import type { JobLogger, SessionJobContext } from './session-job.ts';

/** What all sessions of a run are told alike. */
type RunContext = Pick<SessionJobContext, 'action' | 'runtime' | 'runId' | 'now' | 'logger'> & {
  readonly handles: AgentHandles | undefined;
  readonly secrets: Secrets | undefined;
  /** Aborted when the run is called off. */
  readonly signal: AbortSignal | undefined;
};

const withoutInstances: AgentHandles = (from, name = from) => ({
  name,
  instance() {
    throw new InvalidInputError(
      'options.handles',
      'is missing: this run has no store of snapshots (see agentHandles)',
    );
  },
});

/**
 * What a handler gets for one session. Its signal is made when it is first asked for: it costs as much as all else of a
 * visit to a session that has nothing to do, which a handler that never asks should not pay.
 */
export class SessionContext implements SessionJobContext {
  readonly action: string;
  readonly runtime: AgentRuntime;
  readonly runId: string;
  readonly now: Date;
  readonly logger: JobLogger;
  readonly memory: SessionJobContext['memory'];
  readonly instance: SessionJobContext['instance'];
  readonly agent: SessionJobContext['agent'];
  readonly secret: SessionJobContext['secret'];
  readonly idempotencyKey: string;
  declare readonly signal: AbortSignal;
  readonly #runSignal: AbortSignal | undefined;
  #signal: AbortSignal | undefined;
  #ended: AbortController | undefined;
  #timeout: JobTimeoutError | undefined;

  constructor(run: RunContext, session: Session) {
    this.action = run.action;
    this.runtime = run.runtime;
    this.runId = run.runId;
    // Its own: a date can be changed, and the other sessions see the one of their run.
    this.now = new Date(run.now);
    this.logger = run.logger;
    this.memory = (identity) => run.runtime.memory(session, identity);
    const handles = run.handles ?? withoutInstances;
    const { id } = session;
    this.instance = (key = id) => handles(run.runtime.agent).instance(key);
    this.agent = (name) => handles(run.runtime.agent, name);
    this.secret = (name) => secretValue(name, run.secrets);
    this.idempotencyKey = JSON.stringify([run.runId, session.id]);
    this.#runSignal = run.signal;
    Object.defineProperty(this, 'signal', SessionContext.#signalProperty);
  }

  /** Aborts the signal, also where it is asked for only then. */
  timeOut(error: JobTimeoutError): void {
    this.#timeout = error;
    this.#ended?.abort(error);
  }

  /** Not an accessor of the class, which a handler that copies its context would lose. */
  static readonly #signalProperty: PropertyDescriptor & ThisType<SessionContext> = {
    enumerable: true,
    get() {
      this.#signal ??= this.#madeSignal();
      return this.#signal;
    },
  };

  #madeSignal(): AbortSignal {
    this.#ended = new AbortController();
    if (this.#timeout !== undefined) this.#ended.abort(this.#timeout);
    const { signal } = this.#ended;
    return this.#runSignal ? AbortSignal.any([this.#runSignal, signal]) : signal;
  }
}
