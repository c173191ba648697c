import type { AgentDefinition } from '../agents/agent-definition.ts';
import { pruneCapsules, pruneRawMemory } from '../lifecycle/prune.ts';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';

/** The actions that every agent has without writing them. */
const builtIn: Readonly<Record<string, SessionJobHandler>> = {
  'prune-raw-memory': async (_session, { memory, runtime }) => {
    const removed = await pruneRawMemory(memory(), runtime.policy);
    await pruneCapsules(memory(), runtime.policy);
    return removed;
  },
};

/** The handler of an action: the agent's own, or the built-in one of this name. Undefined where there is none. */
export function actionHandler(
  definition: AgentDefinition | undefined,
  action: string,
): SessionJobHandler | undefined {
  if (definition === undefined) return undefined;
  for (const handlers of [definition.actions ?? {}, builtIn])
    if (Object.hasOwn(handlers, action)) return handlers[action];
  return undefined;
}

/** Every action that an agent has, the built-in ones last; undefined where it is not defined. */
export function actionNames(definition: AgentDefinition | undefined): string[] | undefined {
  return definition && [...new Set([...Object.keys(definition.actions ?? {}), ...Object.keys(builtIn)])];
}
