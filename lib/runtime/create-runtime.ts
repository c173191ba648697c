import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { maxErrors as defaultMaxErrors, sessionMetaMaxBytes, sessionPageSize } from '../defaults.ts';
import { ForbiddenByPolicyError, InvalidInputError } from '../errors.ts';
import { checkFields, checkName, checkSessionId, fieldsOf } from '../input.ts';
import { createMemory } from '../memory/create-memory.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import { checkPaging } from '../memory/paging.ts';
import type { RetentionPolicy } from '../memory/retention.ts';
import { checkPolicy, DEFAULT_RETENTION } from '../memory/retention.ts';
import { jsonText } from '../persistence/json-text.ts';
import { isJsonValue } from '../persistence/json-value.ts';
import type { Counters } from '../sessions/counters.ts';
import type { ErrorLog, NewError } from '../sessions/error-log.ts';
import { eachSession, listSessions } from '../sessions/list-sessions.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { AgentRuntime } from './agent-runtime.ts';

/** Where everything goes that an agent has besides its snapshots. */
export interface RuntimeStores {
  readonly sessions: SessionStore;
  readonly memory: MemoryStore;
  readonly errors: ErrorLog;
  readonly counters: Counters;
}

export interface RuntimeOptions {
  readonly stores: RuntimeStores;
  /** `DEFAULT_RETENTION` unless given. */
  readonly policy?: RetentionPolicy | undefined;
  /** Entries that the error log keeps: 1000 unless given. */
  readonly maxErrors?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
}

const optionNames = fieldsOf<RuntimeOptions>()({ stores: 1, policy: 1, maxErrors: 1, clock: 1, newId: 1 });

/**
 * What an agent's jobs and handlers work with: its sessions, their memory, its error log, its counters.
 *
 * @throws InvalidInputError naming the argument
 * @example
 * const runtime = createRuntime('support', { stores: inMemoryStores() });
 * await runtime.registerSession('chat-7', { channel: 'web' });
 * for await (const session of runtime.listRegisteredSessions()) console.log(session.id, session.lastActiveAt);
 */
export function createRuntime(agentName: string, options: RuntimeOptions): AgentRuntime {
  const agent = checkName('agentName', agentName);
  if (options?.stores === undefined)
    throw new InvalidInputError(
      'options.stores',
      'is missing: for instance dynamoDbStores(...) or inMemoryStores()',
    );
  checkFields('options', options, optionNames);
  const { stores, clock = systemClock, newId = randomUUID } = options;
  const policy = checkPolicy(options.policy ?? DEFAULT_RETENTION);
  const maxErrors = checkWhole('maxErrors', options.maxErrors ?? defaultMaxErrors);
  if (maxErrors < 1) throw new InvalidInputError('maxErrors', 'must be at least 1');

  return {
    ...{ agent, policy, newId },
    registerSession: async (id, meta = {}) =>
      stores.sessions.register(agent, { id: checkSessionId('id', id), meta: checkMeta(meta), at: clock() }),
    getSession: async (id) => stores.sessions.get(agent, checkName('id', id)),
    deregisterSession: async (id) => stores.sessions.deregister(agent, checkName('id', id)),
    forgetSession: async (id) => {
      if (!policy.forgetAllowed) throw new ForbiddenByPolicyError(policy.name, 'forgetting');
      // First the session: whatever has found it registered has told the memory what it is about to write.
      await stores.sessions.deregister(agent, checkName('id', id));
      await createMemory(agent, id, undefined, { stores, policy, clock, newId }).forgetSession();
    },
    listRegisteredSessions: () => eachSession(stores.sessions, agent, sessionPageSize),
    listSessionPage: async (paging = {}) => {
      const { limit, after } = checkPaging(paging);
      return listSessions(stores.sessions, { agent, limit, after });
    },
    memory: (session, identity) => createMemory(agent, session, identity, { stores, policy, clock, newId }),
    recordError: async (error) => stores.errors.record(agent, checkError(error), { at: clock(), maxErrors }),
    listErrors: async (paging = {}) => {
      const { limit, after } = checkPaging(paging);
      return stores.errors.list({ agent, limit, after, maxErrors });
    },
    bumpCounter: async (name, by = 1) =>
      stores.counters.bump(agent, checkName('name', name), checkWhole('by', by)),
    getCounter: async (name) => stores.counters.get(agent, checkName('name', name)),
    now: clock,
    nowEpochSecs: () => Math.floor(clock().getTime() / 1000),
    todayBucket: () => clock().toISOString().slice(0, 10),
  };
}

function checkMeta(meta: unknown): Readonly<Record<string, unknown>> {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta) || !isJsonValue(meta))
    throw new InvalidInputError('meta', 'must be an object that JSON carries without loss');
  const bytes = Buffer.byteLength(jsonText(meta));
  if (bytes > sessionMetaMaxBytes)
    throw new InvalidInputError('meta', `is ${bytes} bytes as JSON, the limit is ${sessionMetaMaxBytes}`);
  return meta as Readonly<Record<string, unknown>>;
}

const errorFields = fieldsOf<NewError>()({ where: 1, msg: 1, stack: 1, sessionId: 1, runId: 1 });

/** An `Error` is none: where it happened is for its caller to say. */
function checkError(error: NewError): NewError {
  checkFields('error', error, errorFields);
  for (const field of ['where', 'msg', 'stack', 'sessionId', 'runId'] as const) {
    const isOptional = field !== 'where' && field !== 'msg';
    if (typeof error[field] === 'string' || (isOptional && error[field] === undefined)) continue;
    throw new InvalidInputError(`error.${field}`, 'must be a string');
  }
  return error;
}

function checkWhole(field: string, value: number): number {
  if (!Number.isSafeInteger(value)) throw new InvalidInputError(field, 'must be a whole number');
  return value;
}
