import { callbackProblem, nameProblem } from '../input.ts';
import type { ActionHandler, AgentDefinition, BuiltInAction } from './agent-definition.ts';
import { InvalidDefinitionError } from './invalid-definition-error.ts';

type Handlers = Readonly<Record<string, ActionHandler>>;

/** The actions that every agent has without writing them. Their handlers are in lib/runs/action-handler.ts. */
const builtInActions: readonly BuiltInAction[] = ['prune-raw-memory'];

/**
 * Every action that an agent has, the built-in ones last; undefined where it is not defined. Loads no module of actions
 * whose names this process was told.
 */
export async function actionNames(definition: AgentDefinition | undefined): Promise<string[] | undefined> {
  if (definition === undefined) return undefined;
  const own = toldNames.get(definition) ?? Object.keys(await ownActions(definition));
  return [...new Set([...own, ...builtInActions])];
}

const toldNames = new WeakMap<AgentDefinition, readonly string[]>();

/** Tells this process which actions a definition has that it resolves by itself, so that nothing has to load them. */
export function tellActionNames(definition: AgentDefinition, names: readonly string[]): void {
  toldNames.set(definition, names);
}

const resolved = new WeakMap<AgentDefinition, Promise<Handlers>>();

/**
 * The actions that the agent's definition has, or resolves: then once, and checked as `defineAgent` checks the others. A
 * module that could not be loaded is tried again at the next call.
 *
 * @throws InvalidDefinitionError where it resolves no actions, or a schedule names one that is not among them
 */
export async function ownActions(definition: AgentDefinition): Promise<Handlers> {
  const { actions = {} } = definition;
  if (typeof actions !== 'function') return actions;
  const known = resolved.get(definition);
  if (known !== undefined) return known;
  const loading = Promise.resolve(actions()).then((module) => checkedModule(definition, module));
  resolved.set(definition, loading);
  loading.catch(() => resolved.delete(definition));
  return loading;
}

/** A module's default export; of one without, which only the compiler refuses, all that it exports. */
function checkedModule(definition: AgentDefinition, module: unknown): Handlers {
  const exported = (module as { default?: unknown } | null | undefined)?.default ?? module;
  // A function has no actions; a CommonJS module is the default export of what imports it.
  if (!isObject(exported))
    throw new InvalidDefinitionError(
      `agent '${definition.name}': its actions resolve to no object of handlers`,
    );
  const problem = actionsProblem({ ...exported }) ?? schedulesProblem(definition, Object.keys(exported));
  if (problem !== undefined) throw new InvalidDefinitionError(`agent '${definition.name}': ${problem}`);
  return exported as Handlers;
}

/** What is wrong with an agent's handlers; undefined where nothing is. */
export function actionsProblem(actions: Readonly<Record<string, unknown>>): string | undefined {
  for (const [action, handler] of Object.entries(actions)) {
    // Jobs and errors are kept under it.
    const wrongName = nameProblem(action);
    if (wrongName !== undefined) return `the name of an action ${wrongName}`;
    const problem = callbackProblem(handler);
    if (problem !== undefined) return `action '${action}' ${problem}`;
  }
  return undefined;
}

/** A schedule that runs what the agent does not have; undefined where there is none. */
export function schedulesProblem(
  { schedules = [] }: AgentDefinition,
  own: readonly string[],
): string | undefined {
  const actions: readonly string[] = [...own, ...builtInActions];
  const lost = schedules.find(({ action }) => !actions.includes(action));
  return lost && `schedule '${lost.name}' runs the action '${lost.action}', which the agent does not have`;
}

/** A Map has no properties: what is in it would be taken for nothing. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);
}
