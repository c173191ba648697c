import { setTimeout as pause } from 'node:timers/promises';
import type { AgentKind, AgentOf, AgentRef } from '../agents/agent-kind.ts';
import { updateAttempts, updatePauseMaxMs, updatePauseMs } from '../defaults.ts';
import { ConflictError } from '../errors.ts';
import { fieldsOf } from '../input.ts';
import { type HibernateOptions, hibernate } from './hibernate.ts';
import type { PersistenceConfig } from './persistence-config.ts';
import type { PersistenceFailure } from './persistence-result.ts';
import { optionsError } from './preconditions.ts';
import { thaw } from './thaw.ts';

/** `changed` is false where the callback returned `undefined`: nothing was stored. Then there may be nothing, too. */
export type UpdateResult<Agent> = Updated<Agent> | Unchanged<Agent> | PersistenceFailure;

interface Saved<Agent> {
  readonly status: 'ok';
  /** The live form as it was handed over, or as it was read. */
  readonly agent: Agent;
  readonly etag: string;
  readonly version: number;
  readonly updatedAt: Date;
}

interface Updated<Agent> extends Saved<Agent> {
  readonly changed: true;
}

type Unchanged<Agent> = Partial<Saved<Agent>> & { readonly status: 'ok'; readonly changed: false };

export type UpdateOptions = Pick<HibernateOptions, 'ttlSeconds'>;
const optionNames = fieldsOf<UpdateOptions>()({ ttlSeconds: 1 });

/** From the live form (undefined where nothing is stored) to the next one. `undefined` changes nothing. */
export type Change<Agent> = (
  current: Agent | undefined,
) => Agent | undefined | PromiseLike<Agent | undefined>;

/**
 * Changes an agent: thaws it, hands it to `change`, and hibernates what that returns over exactly what was read. Where
 * somebody else saved in between, it starts over with the newer state, up to 20 times, with growing pauses by chance; then
 * the result is the `conflict`. So `change` may be called several times, and should do nothing else. What it throws, the
 * call rejects with; nothing is stored then.
 *
 * @example
 * const result = await updateAgent<Support>({ store }, 'support', 'user-123', (agent) => ({
 *   ...agent,
 *   turns: (agent?.turns ?? 0) + 1,
 * }));
 */
export async function updateAgent<Definition extends AgentKind>(
  config: PersistenceConfig,
  agent: Definition,
  key: string,
  change: Change<AgentOf<Definition>>,
  options?: UpdateOptions,
): Promise<UpdateResult<AgentOf<Definition>>>;
export async function updateAgent<Agent = unknown>(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  change: Change<Agent>,
  options?: UpdateOptions,
): Promise<UpdateResult<Agent>>;
export async function updateAgent<Agent>(
  config: PersistenceConfig,
  agent: AgentRef,
  key: string,
  change: Change<Agent>,
  options: UpdateOptions = {},
): Promise<UpdateResult<Agent>> {
  const refused = optionsError(options, optionNames);
  if (refused !== undefined) return { status: 'error', error: refused };
  const { ttlSeconds } = options;
  for (let attempt = 1; ; attempt++) {
    const found = await thaw<Agent>(config, agent, key);
    if (found.status === 'error') return found;
    const isStored = found.status === 'ok';
    const next = await change(isStored ? found.agent : undefined);
    if (next === undefined) return { ...(isStored && found), status: 'ok', changed: false };

    const unchanged = isStored ? { ifMatch: found.etag } : { ifNoneMatch: '*' };
    const saved = await hibernate(config, agent, key, next, { ...unchanged, ttlSeconds });
    if (saved.status === 'ok') {
      const { etag, version, updatedAt } = saved;
      return { status: 'ok', agent: next, etag, version, updatedAt, changed: true };
    }
    if (!(saved.error instanceof ConflictError) || attempt >= updateAttempts) return saved;
    await pause(Math.random() * Math.min(updatePauseMs * 2 ** attempt, updatePauseMaxMs));
  }
}
