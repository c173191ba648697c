import { type Clock, systemClock } from '../clock.ts';
import { compactedKnownForSecs, markerSecs, requestKnownForSecs } from '../defaults.ts';
import { ForgottenMeanwhileError, InvalidInputError } from '../errors.ts';
import type {
  Appended,
  AppendRequest,
  CompactedRecord,
  MemoryScope,
  MemoryStore,
  Moment,
  NamedValue,
  RecordKind,
  StoredRecord,
  ValueScope,
} from '../memory/memory-store.ts';
import { isPlace, type PlacedRecord, placeRecords, placesOf } from '../memory/record-place.ts';
import { isLive } from '../persistence/expiry.ts';

type KeptRecord = PlacedRecord & Pick<StoredRecord, 'arrival'>;

interface SessionMemory {
  arrivals: number;
  forgets: number;
  readonly requests: Map<string, { receivedAt: number; firstArrival: number; forgets: number }>;
  readonly records: Readonly<Record<RecordKind, Map<string, KeptRecord>>>;
  readonly compacted: Map<string, CompactedRecord & { readonly expiresAt: Date }>;
  readonly forgotten: Map<string, { readonly expiresAt: Date }>;
}

/**
 * Keeps memory in this process only: for tests, and for agents that need not outlive it. Only `admit` is waited for
 * between the beginning of a call and its end: a call in whose time something was forgotten starts over.
 */
export function inMemoryMemoryStore({
  clock = systemClock,
}: {
  clock?: Clock | undefined;
} = {}): MemoryStore {
  const sessions = new Map<string, SessionMemory>();
  const values = new Map<string, { scope: ValueScope; values: Map<string, NamedValue> }>();

  const memoryOf = ({ agent, session }: MemoryScope): SessionMemory => {
    const name = JSON.stringify([agent, session]);
    const memory = sessions.get(name) ?? newMemory();
    sessions.set(name, memory);
    return memory;
  };
  const live = (scope: MemoryScope, kind: RecordKind) =>
    [...memoryOf(scope).records[kind].values()].filter((record) => isLive(record, clock()));
  const after = (secs: number) => new Date(clock().getTime() + secs * 1000);
  const forget = (scope: MemoryScope, kind: RecordKind, records: readonly KeptRecord[]) => {
    const memory = memoryOf(scope);
    for (const { id } of records) {
      memory.records[kind].delete(id);
      if (kind === 'message') memory.forgotten.set(id, { expiresAt: after(markerSecs) });
    }
    return records.length;
  };
  const valuesOf = (scope: ValueScope) => {
    const name = JSON.stringify(scope, ['kind', 'agent', 'session', 'identity']);
    const known = values.get(name) ?? { scope, values: new Map<string, NamedValue>() };
    values.set(name, known);
    return known.values;
  };
  const momentOf = ({ arrivals, forgets }: SessionMemory): Moment => ({ arrivals, forgets });
  const beginForget = (scope: MemoryScope): Moment => {
    const memory = memoryOf(scope);
    memory.arrivals++;
    memory.forgets++;
    return momentOf(memory);
  };
  /** Takes a turn, and another one for as long as something is forgotten before the call may go on. */
  const turnOf = async (
    scope: MemoryScope,
    count: number,
    { admit, since }: Pick<AppendRequest, 'admit' | 'since'>,
  ): Promise<Moment> => {
    const memory = memoryOf(scope);
    const isUnforgotten = (moment: Moment) => memory.forgets === moment.forgets;
    for (;;) {
      if (since !== undefined && !isUnforgotten(since)) throw new ForgottenMeanwhileError();
      memory.arrivals += count;
      const moment = momentOf(memory);
      await admit?.();
      if (isUnforgotten(moment)) return moment;
    }
  };

  return {
    async append(scope, kind, request) {
      const memory = memoryOf(scope);
      const turn = await turnOf(scope, request.records.length, request);
      const origin = originOf(memory, request, turn);
      return placeRecords(request, origin.receivedAt, origin.firstArrival).map((record): Appended => {
        const stored = memory.records[kind].get(record.id);
        if (stored !== undefined && isLive(stored, clock())) return { record: stored, created: false };
        const compacted = kind === 'message' ? memory.compacted.get(record.id) : undefined;
        if (compacted !== undefined && isLive(compacted, clock())) return { compacted };
        const kept = { ...record, arrival: turn.arrivals };
        memory.records[kind].set(record.id, kept);
        if (kind === 'message')
          for (const known of [memory.compacted, memory.forgotten]) known.delete(record.id);
        return { record: kept, created: true };
      });
    },
    async get(scope, kind, id) {
      return live(scope, kind).find((record) => record.id === id);
    },
    async list(scope, kind, query) {
      const { order, limit, after: place } = query;
      if (place !== undefined && !isPlace(place))
        throw new InvalidInputError('after', 'the list cannot go on from there');
      const { first, last } = placesOf(query);
      const ascending = order === 'asc';
      const following = live(scope, kind)
        .filter((record) => record.place >= first && record.place <= last)
        .filter((record) => place === undefined || (ascending ? record.place > place : record.place < place))
        .sort((a, b) => (a.place < b.place === ascending ? -1 : 1));
      const items = following.slice(0, limit);
      return { items, next: following.length > limit ? items.at(-1)?.place : undefined };
    },
    async moment(scope) {
      return momentOf(memoryOf(scope));
    },
    async beginForget(scope) {
      return beginForget(scope);
    },
    async forgetRange(scope, kind, range) {
      const { first, last } = placesOf(range);
      const inRange = live(scope, kind).filter(({ place }) => place >= first && place <= last);
      return forget(scope, kind, inRange);
    },
    async forgetIds(scope, kind, ids) {
      const named = new Set(ids);
      return forget(
        scope,
        kind,
        live(scope, kind).filter(({ id }) => named.has(id)),
      );
    },
    async removeCompacted(scope, ids, { arrivals }) {
      const { records, compacted } = memoryOf(scope);
      const named = new Set(ids);
      const covered = live(scope, 'message').filter(
        ({ id, arrival }) => named.has(id) && arrival <= arrivals,
      );
      for (const { id, at, digest, expiresAt = after(compactedKnownForSecs) } of covered) {
        records.message.delete(id);
        compacted.set(id, { id, at, digest, expiresAt });
      }
      return covered.length;
    },
    async releaseCompacted(scope, ids) {
      for (const id of ids) memoryOf(scope).compacted.delete(id);
    },
    async forgottenAmong(scope, ids) {
      const { forgotten } = memoryOf(scope);
      return ids.filter((id) => {
        const known = forgotten.get(id);
        return known !== undefined && isLive(known, clock());
      });
    },
    async prune(scope, kind, to) {
      const { last } = placesOf({ to });
      const records = memoryOf(scope).records[kind];
      const over = [...records.values()].filter(({ place }) => place <= last);
      for (const { id } of over) records.delete(id);
      return over.length;
    },
    async forgetScope(scope) {
      const messages = live(scope, 'message');
      const memory = memoryOf(scope);
      beginForget(scope);
      forget(scope, 'message', [...memory.records.message.values()]);
      forget(scope, 'capsule', [...memory.records.capsule.values()]);
      memory.compacted.clear();
      memory.requests.clear();
      for (const [name, { scope: of }] of values) {
        if (of.kind !== 'knowledge' && of.agent === scope.agent && of.session === scope.session)
          values.delete(name);
      }
      return messages.length;
    },
    async putValue(scope, key, dump, options = {}) {
      if (scope.kind !== 'knowledge') await turnOf(scope, 1, options);
      valuesOf(scope).set(key, { key, dump });
    },
    async getValue(scope, key) {
      return valuesOf(scope).get(key)?.dump;
    },
    async listValues(scope, { limit, after }) {
      const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
      const left = [...valuesOf(scope).values()]
        .filter(({ key }) => after === undefined || byBytes(key, after) > 0)
        .sort((a, b) => byBytes(a.key, b.key));
      const items = left.slice(0, limit);
      return { items, next: left.length > limit ? items.at(-1)?.key : undefined };
    },
    async forgetValue(scope, key) {
      return valuesOf(scope).delete(key);
    },
    async listIdentities(scope) {
      const identities = [...values.values()].flatMap(({ scope: of, values: held }) =>
        of.kind === 'user' && of.agent === scope.agent && of.session === scope.session && held.size > 0
          ? [of.identity]
          : [],
      );
      return identities.sort();
    },
  };
}

function newMemory(): SessionMemory {
  return {
    ...{ arrivals: 0, forgets: 0, requests: new Map(), compacted: new Map(), forgotten: new Map() },
    records: { message: new Map(), capsule: new Map() },
  };
}

function originOf(
  { requests }: SessionMemory,
  { requestId, receivedAt, records, retentionSecs }: AppendRequest,
  { arrivals, forgets }: Moment,
) {
  const own = { receivedAt, firstArrival: arrivals - records.length, forgets };
  if (requestId === undefined) return own;
  const known = requests.get(requestId);
  const knownForSecs = Math.min(requestKnownForSecs, retentionSecs ?? requestKnownForSecs);
  if (known?.forgets === forgets && known.receivedAt + knownForSecs * 1000 > receivedAt) return known;
  requests.set(requestId, own);
  return own;
}
