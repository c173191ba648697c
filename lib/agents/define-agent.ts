import { sessionTimeoutEndSecs } from '../defaults.ts';
import { callbackProblem, fieldsOf, unknownFieldProblem } from '../input.ts';
import { type RetentionPolicy, retentionProblem } from '../memory/retention.ts';
import { InvalidScheduleError } from '../schedules/invalid-schedule-error.ts';
import { checkSchedule, type ScheduleDescriptor } from '../schedules/schedule-descriptor.ts';
import { actionsProblem, isObject, schedulesProblem } from './actions.ts';
import type { AgentDefinition, AgentLimits, BuiltInAction } from './agent-definition.ts';
import { InvalidDefinitionError } from './invalid-definition-error.ts';

/** Names that fit into a URL path and an IAM resource as they are. */
export const agentNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * Checks an agent definition and returns it.
 *
 * @throws InvalidDefinitionError naming the field: a bad name, a policy that contradicts itself, a limit that no run
 *   could keep, two schedules of one name, a schedule that is not valid (the `InvalidScheduleError` is its `cause`) or
 *   whose action the agent does not have
 * @example
 * export default [defineAgent({ name: 'support', load: (dump) => ({ version: 2, ...dump }) })];
 */
export function defineAgent<
  // biome-ignore lint/suspicious/noExplicitAny: as in `AgentDefinition`
  Agent = any,
  const Action extends string = never,
  const Scheduled extends string = never,
>(
  definition: AgentDefinition<Agent, Action> & {
    readonly schedules?: readonly ScheduleDescriptor<KnownAction<Scheduled, NoInfer<Action>>>[] | undefined;
  },
): AgentDefinition<[Agent] extends [never] ? unknown : Agent, Action> {
  if (!isObject(definition)) throw new InvalidDefinitionError('an agent definition must be an object');
  const { name } = definition;
  if (typeof name !== 'string' || !agentNamePattern.test(name)) {
    throw new InvalidDefinitionError(
      `agent ${JSON.stringify(name)}: the name must match ${agentNamePattern.source}`,
    );
  }
  const refuse = (problem: string, cause?: unknown): never => {
    throw new InvalidDefinitionError(`agent '${name}': ${problem}`, { cause });
  };
  refuseUnknown(definition, definitionFields, refuse);
  for (const part of ['retention', 'limits'] as const) {
    if (definition[part] !== undefined && !isObject(definition[part])) refuse(`${part} must be an object`);
  }
  const { actions = {} } = definition;
  if (typeof actions !== 'function') {
    const wrong = isObject(actions)
      ? actionsProblem(actions)
      : 'actions must be an object, or a function that resolves one';
    if (wrong !== undefined) refuse(wrong);
  }
  if (definition.schedules !== undefined && !Array.isArray(definition.schedules))
    refuse('schedules must be an array');
  for (const callback of ['dump', 'load'] as const) {
    const given = definition[callback];
    const problem = given === undefined ? undefined : callbackProblem(given);
    if (problem !== undefined) refuse(`${callback} ${problem}`);
  }
  if (definition.state !== undefined && typeof definition.state['~standard']?.validate !== 'function') {
    refuse('state must be a Standard Schema');
  }
  refuseUnknown(definition.retention, retentionFields, (problem) => refuse(`retention: ${problem}`));
  const problem = definition.retention && retentionProblem(definition.retention);
  if (problem !== undefined) refuse(`retention.${problem}`);
  checkLimits(definition.limits, refuse);
  checkSchedules(definition, refuse);
  // biome-ignore lint/suspicious/noExplicitAny: a `load` that only throws says nothing of the live form
  return definition as AgentDefinition<any, Action>;
}

/** An action that a schedule may name. One whose name only the running program knows is checked there. */
type KnownAction<Scheduled extends string, Action extends string> = Scheduled extends Action | BuiltInAction
  ? Scheduled
  : string extends Scheduled
    ? string
    : Action | BuiltInAction;

const definitionFields = fieldsOf<AgentDefinition>()({
  ...{ name: 1, state: 1, dump: 1, load: 1, retention: 1, actions: 1, schedules: 1, limits: 1 },
});
const limitFields = fieldsOf<AgentLimits>()({ sessionTimeoutSecs: 1, sessionConcurrency: 1, maxErrors: 1 });
const scheduleFields = fieldsOf<ScheduleDescriptor>()({ name: 1, cron: 1, action: 1, timezone: 1 });
const retentionFields = fieldsOf<RetentionPolicy>()({
  ...{ name: 1, rawRetentionSecs: 1, capsuleRetentionSecs: 1, compactAfterSecs: 1 },
  ...{ exportAllowed: 1, forgetAllowed: 1, metadata: 1 },
});

function refuseUnknown(
  given: object | undefined,
  known: readonly string[],
  refuse: (problem: string) => never,
): void {
  const problem = given && unknownFieldProblem(given, known);
  if (problem !== undefined) refuse(problem);
}

/** What a run would refuse of every session is refused here. */
function checkLimits(limits: AgentLimits = {}, refuse: (problem: string) => never): void {
  refuseUnknown(limits, limitFields, (problem) => refuse(`limits: ${problem}`));
  const { sessionTimeoutSecs, sessionConcurrency, maxErrors } = limits;
  if (sessionTimeoutSecs !== undefined && !isTimeout(sessionTimeoutSecs))
    refuse(`limits.sessionTimeoutSecs must be a number above 0 and below ${sessionTimeoutEndSecs}`);
  for (const [field, value] of Object.entries({ sessionConcurrency, maxErrors })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      refuse(`limits.${field} must be a whole number above 0`);
  }
}

function isTimeout(seconds: unknown): boolean {
  return typeof seconds === 'number' && seconds > 0 && seconds < sessionTimeoutEndSecs;
}

function checkSchedules(
  definition: AgentDefinition,
  refuse: (problem: string, cause?: unknown) => never,
): void {
  const { schedules = [], actions = {} } = definition;
  const names = new Set<string>();
  for (const schedule of schedules) {
    if (!isObject(schedule)) refuse('a schedule must be an object');
    const { name } = schedule;
    refuseUnknown(schedule, scheduleFields, (problem) => refuse(`schedule '${name}': ${problem}`));
    const problem = problemOf(schedule);
    if (problem !== undefined) refuse(`schedule '${name}': ${problem.message}`, problem);
    if (names.has(name)) refuse(`two schedules are named '${name}'`);
    names.add(name);
  }
  // Of actions that are resolved later, whoever resolves them looks.
  const lost = typeof actions === 'function' ? undefined : schedulesProblem(definition, Object.keys(actions));
  if (lost !== undefined) refuse(lost);
}

function problemOf(schedule: ScheduleDescriptor): InvalidScheduleError | undefined {
  try {
    checkSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidScheduleError) return error;
    throw error;
  }
}

/**
 * Finds agents by name.
 *
 * @param definitions what a module of agents exports by default, or the `module.exports` of one that was transpiled to
 *   CommonJS
 * @throws InvalidDefinitionError when two definitions share a name, or the value is no array of definitions
 */
export function indexAgents(definitions: readonly AgentDefinition[]): ReadonlyMap<string, AgentDefinition> {
  const exported = defaultExportOf(definitions);
  if (!Array.isArray(exported))
    throw new InvalidDefinitionError('agents must default-export an array of defineAgent(...)');
  const index = new Map<string, AgentDefinition>();
  for (const definition of exported) {
    const checked: AgentDefinition = defineAgent(definition);
    if (index.has(checked.name)) throw new InvalidDefinitionError(`two agents are named '${checked.name}'`);
    index.set(checked.name, checked);
  }
  return index;
}

/** To an ES module the default export of CommonJS is all of its `module.exports`, for Node and for a bundle alike. */
function defaultExportOf(value: unknown): unknown {
  const { __esModule, default: exported } = (value ?? {}) as { __esModule?: unknown; default?: unknown };
  return __esModule === true ? exported : value;
}
