import type { StandardSchemaV1 } from '@standard-schema/spec';
import { messageOf } from '../errors.ts';
import {
  DumpFailedError,
  InvalidStateError,
  LoadFailedError,
  PersistenceError,
} from '../persistence/persistence-error.ts';
import type { AgentDefinition } from './agent-definition.ts';
import { type AgentRef, agentName } from './agent-ref.ts';

function definitionOf(agent: AgentRef): AgentDefinition {
  return typeof agent === 'string' ? { name: agent } : agent;
}

/**
 * What is stored of a state: the agent's `dump` of it, or the state itself.
 * Rejects `DumpFailedError` when `dump` throws, rejects or returns nothing (a forgotten `return` must not erase an agent).
 */
export async function dumpAgent(agent: AgentRef, state: unknown, key = ''): Promise<unknown> {
  const { dump } = definitionOf(agent);
  if (dump === undefined) return state;
  const fail = failure(DumpFailedError, 'dump', agent);
  try {
    return await settle(dump(state, { agent: agentName(agent), key }));
  } catch (error) {
    throw fail(error);
  }
}

/** The live form of a dump: the agent's `load` of it, or the dump itself. Rejects `LoadFailedError` likewise. */
export async function loadAgent(agent: AgentRef, dump: unknown, key = ''): Promise<unknown> {
  const { load } = definitionOf(agent);
  if (load === undefined) return dump;
  const fail = failure(LoadFailedError, 'load', agent);
  try {
    return await settle(load(dump, { agent: agentName(agent), key }));
  } catch (error) {
    throw fail(error);
  }
}

async function settle(returned: unknown): Promise<unknown> {
  const value = await returned;
  if (value === undefined) throw new TypeError('it returned nothing');
  return value;
}

function failure<E extends Error>(
  type: new (message: string, options: { cause: unknown }) => E,
  callback: string,
  agent: AgentRef,
): (thrown: unknown) => E {
  return (thrown) =>
    new type(`${callback} of agent '${agentName(agent)}' failed: ${messageOf(thrown)}`, { cause: thrown });
}

/** Rejects `InvalidStateError` naming the first field that does not fit the agent's schema, if it has one. */
export async function checkState(agent: AgentRef, state: unknown): Promise<void> {
  const schema = definitionOf(agent).state;
  if (schema === undefined) return;
  const result = await validate(schema, state);
  const issue = result.issues?.[0];
  if (issue === undefined) return;
  const path = [
    '$',
    ...(issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)),
  ].join('.');
  throw new InvalidStateError(`the state does not fit the agent's schema: ${issue.message} at ${path}`, {
    path,
  });
}

/** A schema that throws has not accepted the state; one of our own errors says why itself. */
async function validate(schema: StandardSchemaV1, state: unknown): Promise<StandardSchemaV1.Result<unknown>> {
  try {
    return await schema['~standard'].validate(state);
  } catch (error) {
    if (error instanceof PersistenceError) throw error;
    throw new InvalidStateError("the agent's schema failed on the state", { cause: error });
  }
}
