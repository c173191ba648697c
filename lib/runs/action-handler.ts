import { ownActions } from '../agents/actions.ts';
import type { AgentDefinition, BuiltInAction } from '../agents/agent-definition.ts';
import { pruneCapsules, pruneRawMemory } from '../lifecycle/prune.ts';
import type { SessionJobHandler } from '../lifecycle/session-job.ts';

const builtIn: Readonly<Record<BuiltInAction, SessionJobHandler>> = {
  'prune-raw-memory': async (_session, { memory, runtime }) => {
    const removed = await pruneRawMemory(memory(), runtime.policy);
    await pruneCapsules(memory(), runtime.policy);
    return removed;
  },
};

/** The handler of an action: the agent's own, or the built-in one of this name. Undefined where there is none. */
export async function actionHandler(
  definition: AgentDefinition | undefined,
  action: string,
): Promise<SessionJobHandler | undefined> {
  if (definition === undefined) return undefined;
  const handlers: Readonly<Record<string, SessionJobHandler>>[] = [await ownActions(definition), builtIn];
  return handlers.find((some) => Object.hasOwn(some, action))?.[action];
}
