import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { ForbiddenByPolicyError, InvalidInputError, SessionNotFoundError } from '../errors.ts';
import { checkFields, checkName, fieldsOf } from '../input.ts';
import type { Identity } from '../sessions/session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { AgentMemory } from './agent-memory.ts';
import { capsuleFromWindow, getCapsule, listCapsules, storeCapsule } from './capsules.ts';
import { checkSourceId } from './check-capsule.ts';
import { exportMemory, exportParts } from './export-memory.ts';
import { forgetMessages, forgetSource } from './forget-selected.ts';
import type { MemoryContext } from './memory-context.ts';
import type { MemoryStore, ValueScope } from './memory-store.ts';
import { checkIdentity, unpackMessage } from './message-codec.ts';
import { namedValues, valuesOf } from './named-values.ts';
import { checkRecent } from './paging.ts';
import { rememberMessages } from './remember.ts';
import type { RetentionPolicy } from './retention.ts';
import { checkPolicy, DEFAULT_RETENTION } from './retention.ts';

export interface MemoryOptions {
  readonly stores: {
    readonly memory: MemoryStore;
    /** With it, `remember` marks the session as active, and rejects `session_not_found` when it is not registered. */
    readonly sessions?: SessionStore | undefined;
  };
  /** `DEFAULT_RETENTION` unless given. */
  readonly policy?: RetentionPolicy | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
}

const optionNames = fieldsOf<MemoryOptions>()({ stores: 1, policy: 1, clock: 1, newId: 1 });

/**
 * The memory of an agent in a session, as a participant sees it.
 *
 * @param session a session, or its id
 * @param identity whose user data it is, and who sends what has no other sender; undefined where neither is needed
 * @throws InvalidInputError naming the argument
 * @example
 * const memory = createMemory('support', 'chat-7', { id: 'ann' }, { stores: inMemoryStores() });
 * await memory.remember({ id: 'm1', content: 'hello' });
 * const { items } = await memory.recent({ hours: 24 }); // [{ id: 'm1', content: 'hello', sender: { id: 'ann' }, … }]
 */
export function createMemory(
  agentName: string,
  session: string | { readonly id: string },
  identity: Identity | undefined,
  options: MemoryOptions,
): AgentMemory {
  if (options?.stores === undefined)
    throw new InvalidInputError(
      'options.stores',
      'is missing: for instance dynamoDbStores(...) or inMemoryStores()',
    );
  checkFields('options', options, optionNames);
  const context: MemoryContext = {
    store: options.stores.memory,
    scope: {
      agent: checkName('agentName', agentName),
      session: checkName('session', typeof session === 'string' ? session : session?.id),
    },
    identity: identity === undefined ? undefined : checkIdentity(identity, 'identity'),
    policy: checkPolicy(options.policy ?? DEFAULT_RETENTION),
    clock: options.clock ?? systemClock,
    newId: options.newId ?? randomUUID,
    async mustBeRegistered() {
      const { sessions } = options.stores;
      if (sessions === undefined || (await sessions.get(scope.agent, scope.session)) !== undefined) return;
      throw new SessionNotFoundError(scope.session);
    },
  };
  const { store, scope, policy, clock } = context;
  const knowledgeScope: ValueScope = { kind: 'knowledge', agent: scope.agent };
  const knowledge = namedValues(store, knowledgeScope, { policy });
  const userScope = (): ValueScope => {
    if (context.identity === undefined) throw new InvalidInputError('identity', 'this memory has none');
    return { kind: 'user', ...scope, identity: context.identity.id };
  };
  const user = () => namedValues(store, userScope(), { policy, admit: context.mustBeRegistered });
  const forgetting = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!policy.forgetAllowed) throw new ForbiddenByPolicyError(policy.name, 'forgetting');
    return work();
  };
  const mayExport = () => {
    if (!policy.exportAllowed) throw new ForbiddenByPolicyError(policy.name, 'export');
  };
  const markActive = async () => {
    const registered = await options.stores.sessions?.touch(scope.agent, scope.session, clock());
    if (registered === false) throw new SessionNotFoundError(scope.session);
  };

  return {
    ...{ scope, identity: context.identity, policy, store, clock },
    remember: (messages) => rememberMessages(context, isList(messages) ? messages : [messages], markActive),
    async recent(query = {}) {
      const { items, next } = await store.list(scope, 'message', checkRecent(query, clock()));
      return { items: await Promise.all(items.map(unpackMessage)), next };
    },
    forgetSession: () => forgetting(() => store.forgetScope(scope)),
    forgetSessionRange: (from, to) =>
      forgetting(async () => (await forgetMessages(context, { from, to })).deleted),
    forgetSessionWhere: (where) => forgetting(async () => (await forgetMessages(context, { where })).deleted),
    forgetMessages: (selection, how) => forgetting(() => forgetMessages(context, selection, how)),
    forgetBySourceId: (id) => forgetting(async () => forgetSource(context, checkSourceId('sourceId', id))),

    getUserData: async () => valuesOf(store, userScope()),
    setUserData: async (key, value) => user().set(key, value),
    forgetUserKey: async (key) => user().forget(key),

    learn: (key, value) => knowledge.set(key, value),
    getKnowledge: () => valuesOf(store, knowledgeScope),
    forgetKbKey: (key) => knowledge.forget(key),

    async exportMemory() {
      mayExport();
      return exportMemory(context);
    },
    async *exportParts() {
      mayExport();
      yield* exportParts(context);
    },

    capsuleFromWindow,
    storeCapsule: (capsule, how) => storeCapsule(context, capsule, how),
    getCapsule: (id) => getCapsule(context, id),
    listCapsules: async (query = {}) => listCapsules(context, query),
  };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
