import { everyRecord } from './every-record.ts';
import type { MemoryContext } from './memory-context.ts';
import type { AppendRequest, ValueScope } from './memory-store.ts';
import type { Capsule } from './message.ts';
import { unpackCapsule, unpackValue } from './message-codec.ts';
import { everyValue, setValue } from './named-values.ts';

/** What a capsule was made of: the sources of its own messages, and the capsule before. */
type Provenance = Pick<Capsule, 'sourceIds' | 'previousId'>;

/*
 * A capsule names its own sources and the capsule before, so that its provenance does not grow with every compaction.
 * The capsule before may expire, or be pruned, while what it said lives on in its successors: so its provenance is kept
 * beside it, from before its first successor is stored.
 */

/** Keeps the provenance of a capsule that another one is about to build on. */
export async function keepLineageOf(
  { store, scope }: Pick<MemoryContext, 'store' | 'scope'>,
  previousId: string | null,
  options: Pick<AppendRequest, 'admit' | 'since'>,
): Promise<void> {
  const record = previousId === null ? undefined : await store.get(scope, 'capsule', previousId);
  if (record === undefined) return;
  const { sourceIds, previousId: before } = await unpackCapsule(record);
  if (sourceIds.length === 0 && before === null) return;
  await setValue(store, lineageScope(scope), record.id, { sourceIds, previousId: before }, options);
}

export interface CapsuleChain {
  /** The capsules that are there. */
  readonly capsules: readonly Pick<Capsule, 'id' | 'from' | 'to' | 'messageIds'>[];
  /** The ids of these, and of what builds on a capsule, there or gone, for which the predicate holds. */
  builtOn(predicate: (provenance: Provenance, id: string) => boolean): Promise<Set<string>>;
  /** Removes what was kept of these. */
  forget(ids: ReadonlySet<string>): Promise<void>;
}

/** The session's capsules, without what they say, and what they were made of. */
export async function readChain(context: Pick<MemoryContext, 'store' | 'scope'>): Promise<CapsuleChain> {
  const { store, scope } = context;
  const capsules: CapsuleChain['capsules'][number][] = [];
  const known = new Map<string, Provenance>();
  for await (const records of everyRecord(context, 'capsule')) {
    for (const capsule of await Promise.all(records.map(unpackCapsule))) {
      const { id, from, to, messageIds, sourceIds, previousId } = capsule;
      capsules.push({ id, from, to, messageIds });
      known.set(id, { sourceIds, previousId });
    }
  }
  const kept = new Set<string>();
  /** Only who follows the chain needs what is left of those that are gone. */
  const readKept = async () => {
    for await (const { key, dump } of everyValue(store, lineageScope(scope))) {
      kept.add(key);
      if (!known.has(key)) known.set(key, (await unpackValue(dump)) as Provenance);
    }
  };

  return {
    capsules,
    async builtOn(predicate) {
      await readKept();
      const found = new Set<string>();
      const cleared = new Set<string>();
      for (const id of known.keys()) {
        const path: string[] = [];
        let at: string | null | undefined = id;
        let isFound = false;
        while (typeof at === 'string' && !cleared.has(at) && !path.includes(at)) {
          const provenance = known.get(at);
          if (provenance === undefined) break;
          path.push(at);
          isFound = found.has(at) || predicate(provenance, at);
          if (isFound) break;
          at = provenance.previousId;
        }
        for (const one of path) (isFound ? found : cleared).add(one);
      }
      return found;
    },
    async forget(ids) {
      for (const id of ids) if (kept.has(id)) await store.forgetValue(lineageScope(scope), id);
    },
  };
}

function lineageScope({ agent, session }: MemoryContext['scope']): ValueScope {
  return { kind: 'lineage', agent, session };
}
