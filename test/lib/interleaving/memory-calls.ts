import { type AgentRuntime, compactMemory, pruneRawMemory } from '../../../lib/index.ts';
import { compactWindow, windowDue } from '../../../lib/lifecycle/compact-window.ts';
import { daySecs, large, memoryOf, policy, session, text, type World } from './memory-world.ts';

type Call = (runtime: AgentRuntime, world: World) => Promise<unknown>;

/** What was there when a call began that removes it: what was accepted, and what a reader saw that nobody was told of yet. */
const presentOf = async (world: World, names: readonly string[]) => {
  if (names.every((name) => world.accepted.has(name))) return names;
  const readable = await world.readable();
  return names.filter((name) => world.accepted.has(name) || readable.has(name));
};

const accept = async (
  world: World,
  names: readonly string[],
  call: () => Promise<unknown>,
  replaced: readonly string[] = [],
) => {
  const before = await presentOf(world, replaced);
  const forgottenBefore = names.filter((name) => world.forgotten.has(name));
  for (const name of replaced) world.mayBeGone.add(name);
  try {
    await call();
  } catch (error) {
    if ((error as { code?: string }).code === 'id_conflict')
      for (const name of names) world.refused.add(name);
    throw error;
  }
  for (const name of before) world.forgotten.add(name);
  for (const name of names) world.accepted.add(name);
  // Stored again by a call that began after it was forgotten.
  for (const name of forgottenBefore) world.forgotten.delete(name);
};

const forgetting = async (world: World, names: readonly string[], call: () => Promise<unknown>) => {
  const before = await presentOf(world, names);
  for (const name of names) world.mayBeGone.add(name);
  await call();
  for (const name of before) world.forgotten.add(name);
};

const forgettingOld = (world: World, names: readonly string[], call: () => Promise<unknown>) => {
  world.capsuleForgotten = true;
  return forgetting(world, names, call);
};

const storeCapsule = async (runtime: AgentRuntime, world: World, name: string) => {
  world.capsuleMade = true;
  const memory = memoryOf(runtime);
  const { items } = await memory.recent();
  if (items.length === 0) return;
  const summary = `${text(name)}${items.map(({ content }) => content).join()}`;
  await accept(world, [name], () =>
    memory.storeCapsule({ ...memory.capsuleFromWindow(items, summary), id: 'own' }),
  );
};

const setUserData = (runtime: AgentRuntime, world: World, name: string, other: string) =>
  accept(world, [name], () => memoryOf(runtime).setUserData('key', text(name)), [other]);

const learn = (runtime: AgentRuntime, world: World, name: string, other: string) => {
  world.hasLearned = true;
  return accept(world, [name], () => memoryOf(runtime).learn('key', text(name)), [other]);
};

const all = ['small', 'other', 'large', 'b1', 'b2', 'old1', 'old2', 'data', 'data2', 'capsule', 'capsule2'];

const storing: Readonly<Record<string, Call>> = {
  'remember a small message': (runtime, world) =>
    accept(world, ['small'], () => memoryOf(runtime).remember({ id: 'small', content: text('small') })),
  'remember another one under its id': (runtime, world) =>
    accept(world, ['other'], () => memoryOf(runtime).remember({ id: 'small', content: text('other') })),
  'remember a large message': (runtime, world) =>
    accept(world, ['large'], () =>
      memoryOf(runtime).remember({ id: 'large', content: text('large', large) }),
    ),
  'remember a batch': (runtime, world) =>
    accept(world, ['b1', 'b2'], () =>
      memoryOf(runtime).remember(['b1', 'b2'].map((id) => ({ id, content: text(id) }))),
    ),
  compact: (runtime, world) => {
    world.capsuleMade = true;
    return compactMemory(memoryOf(runtime), ({ messages }) => messages.map(({ content }) => content).join());
  },
  'compact by halves': async (runtime, world) => {
    world.capsuleMade = true;
    const memory = memoryOf(runtime);
    const { messages, previous, moment } = await windowDue(memory);
    if (messages.length === 0) return undefined;
    const summary = messages.map(({ content }) => content).join();
    const messageIds = messages.map(({ id }) => id);
    return compactWindow(memory, { messageIds, summary, previousId: previous?.id, moment });
  },
  'store a capsule': (runtime, world) => storeCapsule(runtime, world, 'capsule'),
  'store another one under its id': (runtime, world) => storeCapsule(runtime, world, 'capsule2'),
  'set user data': (runtime, world) => setUserData(runtime, world, 'data', 'data2'),
  'set it to another value': (runtime, world) => setUserData(runtime, world, 'data2', 'data'),
};

const removing: Readonly<Record<string, Call>> = {
  'forget the session': (runtime, world) =>
    forgetting(world, all, async () => {
      await runtime.forgetSession(session);
      world.isGone = true;
    }),
  'forget the session, and register it again': (runtime, world) =>
    forgetting(world, all, async () => {
      await runtime.forgetSession(session);
      await runtime.registerSession(session);
    }),
  'forget a range': (runtime, world) =>
    forgettingOld(world, ['old1', 'old2'], () =>
      memoryOf(runtime).forgetMessages(
        { from: world.start, to: world.start + 5_000 },
        { capsules: 'forget' },
      ),
    ),
  'forget by source': (runtime, world) =>
    forgettingOld(world, ['old1'], () => memoryOf(runtime).forgetBySourceId('doc')),
  'forget where': async (runtime, world) => {
    // What is compacted already has no content for a predicate.
    const { items } = await memoryOf(runtime).recent();
    const raw = items.some(({ id }) => id === 'old2') ? ['old2'] : [];
    let deleted = 0;
    await forgettingOld(world, [], async () => {
      world.mayBeGone.add('old2');
      const where = ({ id }: { id: string }) => id === 'old2';
      ({ deleted } = await memoryOf(runtime).forgetMessages({ where }, { capsules: 'forget' }));
    });
    if (deleted > 0) for (const name of raw) world.forgotten.add(name);
  },
  'forget user data': (runtime, world) =>
    forgetting(world, ['data', 'data2'], () => memoryOf(runtime).forgetUserKey('key')),
  deregister: (runtime) => runtime.deregisterSession(session),
  prune: (runtime, world) => {
    for (const name of ['old1', 'old2']) world.mayBeGone.add(name);
    return pruneRawMemory(memoryOf(runtime), { ...policy, rawRetentionSecs: 7 * daySecs });
  },
};

/** What an agent knows is none of its sessions'. */
const ofKnowledge: Readonly<Record<string, Call>> = {
  learn: (runtime, world) => learn(runtime, world, 'fact', 'fact2'),
  'learn otherwise': (runtime, world) => learn(runtime, world, 'fact2', 'fact'),
  'forget knowledge': (runtime, world) =>
    forgetting(world, ['fact', 'fact2'], () => memoryOf(runtime).forgetKbKey('key')),
};

export const memoryCalls = { ...storing, ...removing, ...ofKnowledge };

const pairsOf = (calls: object) => {
  const names = Object.keys(calls);
  return names.flatMap((first) => names.map((second) => [first, second] as const));
};
export const memoryPairs = [...pairsOf({ ...storing, ...removing }), ...pairsOf(ofKnowledge)];
export const isOfKnowledge = (name: string) => name in ofKnowledge;
export const isRemoval = (name: string) => name in removing;
