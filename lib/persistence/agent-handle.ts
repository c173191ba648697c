import type { AgentKind, AgentRef } from '../agents/agent-kind.ts';
import { type ForgetOptions, type ForgetResult, forget } from './forget.ts';
import { type HibernateOptions, type HibernateResult, hibernate } from './hibernate.ts';
import type { PersistenceConfig } from './persistence-config.ts';
import { type ThawResult, thaw } from './thaw.ts';
import { type Change, type UpdateOptions, type UpdateResult, updateAgent } from './update-agent.ts';

/** One agent, bound to where it is kept: the calls of the library without their first three arguments. */
export interface AgentInstance<Agent = unknown> {
  readonly key: string;
  thaw(): Promise<ThawResult<Agent>>;
  hibernate(state: Agent, options?: HibernateOptions): Promise<HibernateResult>;
  update(change: Change<Agent>, options?: UpdateOptions): Promise<UpdateResult<Agent>>;
  forget(options?: ForgetOptions): Promise<ForgetResult>;
}

/** A kind of agent, bound to where its instances are kept. */
export interface AgentHandle<Agent = unknown> {
  readonly name: string;
  /** Whose it is, where agents of several tenants are kept apart. */
  readonly tenant?: string | undefined;
  instance(key: string): AgentInstance<Agent>;
}

/**
 * Finds the agent of a run (by the name that the run knows it by), or another one as that agent sees it: where agents of
 * several tenants are kept apart, one of the same tenant.
 */
export type AgentHandles = (from: string, name?: string) => AgentHandle;

/**
 * Binds an agent to a config.
 *
 * @example
 * const support = agentHandle({ store }, supportAgent);
 * await support.instance('user-123').update((agent) => ({ ...agent, mood: 'calm' }));
 */
export function agentHandle<Agent = unknown>(config: PersistenceConfig, agent: AgentRef): AgentHandle<Agent> {
  return {
    name: typeof agent === 'string' ? agent : agent.name,
    instance: (key) => ({
      key,
      thaw: () => thaw<Agent>(config, agent, key),
      hibernate: (state, options) => hibernate(config, agent, key, state, options),
      update: (change, options) => updateAgent<Agent>(config, agent, key, change, options),
      forget: (options) => forget(config, agent, key, options),
    }),
  };
}

/**
 * The instances of all agents in a store, for runs whose actions wake agents.
 *
 * @example
 * await runSessionJob(runtime, 'greet', greet, { handles: agentHandles({ store }, new Map([['support', support]])) });
 */
export function agentHandles(
  config: PersistenceConfig,
  agents: { get(name: string): AgentKind | undefined },
): AgentHandles {
  return (from, name = from) => agentHandle(config, agents.get(name) ?? name);
}
