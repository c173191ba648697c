import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type AgentKind, type AgentRef, agentName } from '../agents/agent-kind.ts';
import { DumpFailedError, InvalidStateError, LoadFailedError, PersistenceError } from '../errors.ts';
import { messageOf } from '../message-of.ts';

function definitionOf(agent: AgentRef): AgentKind {
  return typeof agent === 'string' ? { name: agent } : agent;
}

/**
 * What is stored of a state: the agent's `dump` of it, or the state itself.
 * Rejects `DumpFailedError` when `dump` throws, rejects or returns nothing (a forgotten `return` must not erase an agent).
 */
export async function dumpAgent(agent: AgentRef, state: unknown, key = ''): Promise<unknown> {
  return dumpNow(agent, state, key);
}

/** As `dumpAgent`, and where `dump` is not asynchronous, neither is this: a promise only where `dump` returned one. */
export function dumpNow(agent: AgentRef, state: unknown, key: string): unknown {
  const { dump } = definitionOf(agent);
  if (dump === undefined) return state;
  const fail = failure(DumpFailedError, 'dump', agent);
  try {
    const dumped: unknown = dump(state, { agent: agentName(agent), key });
    if (!isThenable(dumped)) return something(dumped);
    return Promise.resolve(dumped)
      .then(something)
      .catch((error) => {
        throw fail(error);
      });
  } catch (error) {
    throw fail(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** The live form of a dump: the agent's `load` of it, or the dump itself. Rejects `LoadFailedError` likewise. */
export async function loadAgent(agent: AgentRef, dump: unknown, key = ''): Promise<unknown> {
  const { load } = definitionOf(agent);
  if (load === undefined) return dump;
  const fail = failure(LoadFailedError, 'load', agent);
  try {
    return something(await load(dump, { agent: agentName(agent), key }));
  } catch (error) {
    throw fail(error);
  }
}

function something(returned: unknown): unknown {
  if (returned === undefined) throw new TypeError('it returned nothing');
  return returned;
}

function failure<E extends Error>(
  type: new (message: string, options: { cause: unknown }) => E,
  callback: string,
  agent: AgentRef,
): (thrown: unknown) => E {
  return (thrown) =>
    new type(`${callback} of agent '${agentName(agent)}' failed: ${messageOf(thrown)}`, { cause: thrown });
}

/**
 * Refuses a state that does not fit the agent's schema, if it has one, with an `InvalidStateError` that names the first
 * field that does not. Throws it where the schema answers at once, else the promise rejects with it.
 */
export function checkState(agent: AgentRef, state: unknown): Promise<void> | undefined {
  const schema = definitionOf(agent).state;
  if (schema === undefined) return undefined;
  try {
    const result = schema['~standard'].validate(state);
    if (!isThenable(result)) return assertFits(result);
    return Promise.resolve(result).then(assertFits).catch(rethrow);
  } catch (error) {
    rethrow(error);
  }
}

function assertFits({ issues }: StandardSchemaV1.Result<unknown>): undefined {
  const issue = issues?.[0];
  if (issue === undefined) return undefined;
  const path = [
    '$',
    ...(issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)),
  ].join('.');
  throw new InvalidStateError(`the state does not fit the agent's schema: ${issue.message} at ${path}`, {
    path,
  });
}

/** A schema that throws has not accepted the state; one of our own errors says why itself. */
function rethrow(error: unknown): never {
  if (error instanceof PersistenceError) throw error;
  throw new InvalidStateError("the agent's schema failed on the state", { cause: error });
}

export function hasDump(agent: AgentRef): boolean {
  return definitionOf(agent).dump !== undefined;
}
