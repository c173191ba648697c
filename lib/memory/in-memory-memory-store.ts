import { type Clock, systemClock } from '../clock.ts';
import { requestKnownForSecs } from '../defaults.ts';
import { isLive } from '../persistence/expiry.ts';
import { InvalidInputError } from './memory-error.ts';
import type { MemoryScope, MemoryStore, NamedValue, RecordKind, ValueScope } from './memory-store.ts';
import { isPlace, type PlacedRecord, placeRecords, placesOf } from './record-place.ts';

interface SessionMemory {
  arrivals: number;
  readonly requests: Map<string, { receivedAt: number; firstArrival: number }>;
  readonly records: Readonly<Record<RecordKind, Map<string, PlacedRecord>>>;
}

/** Keeps memory in this process only: for tests, and for agents that need not outlive it. */
export function inMemoryMemoryStore({
  clock = systemClock,
}: {
  clock?: Clock | undefined;
} = {}): MemoryStore {
  const sessions = new Map<string, SessionMemory>();
  const values = new Map<string, { scope: ValueScope; values: Map<string, NamedValue> }>();

  const memoryOf = ({ agent, session }: MemoryScope): SessionMemory => {
    const name = JSON.stringify([agent, session]);
    const records = { message: new Map(), capsule: new Map() };
    const memory = sessions.get(name) ?? { arrivals: 0, requests: new Map(), records };
    sessions.set(name, memory);
    return memory;
  };
  const live = (scope: MemoryScope, kind: RecordKind) =>
    [...memoryOf(scope).records[kind].values()].filter((record) => isLive(record, clock()));
  const remove = (scope: MemoryScope, kind: RecordKind, records: readonly PlacedRecord[]) => {
    for (const { id } of records) memoryOf(scope).records[kind].delete(id);
    return records.length;
  };
  const valuesOf = (scope: ValueScope) => {
    const { kind, agent } = scope;
    const name = JSON.stringify(
      kind === 'user' ? [kind, agent, scope.session, scope.identity] : [kind, agent],
    );
    const known = values.get(name) ?? { scope, values: new Map<string, NamedValue>() };
    values.set(name, known);
    return known.values;
  };

  return {
    async append(scope, kind, request) {
      const memory = memoryOf(scope);
      const { requestId, receivedAt } = request;
      const known = requestId === undefined ? undefined : memory.requests.get(requestId);
      const recent = known && known.receivedAt + requestKnownForSecs * 1000 > receivedAt ? known : undefined;
      const origin = recent ?? { receivedAt, firstArrival: memory.arrivals };
      if (recent === undefined) memory.arrivals += request.records.length;
      if (requestId !== undefined) memory.requests.set(requestId, origin);
      return placeRecords(request, origin.receivedAt, origin.firstArrival).map((record) => {
        const stored = memory.records[kind].get(record.id);
        if (stored !== undefined && isLive(stored, clock())) return { record: stored, created: false };
        memory.records[kind].set(record.id, record);
        return { record, created: true };
      });
    },
    async get(scope, kind, id) {
      return live(scope, kind).find((record) => record.id === id);
    },
    async list(scope, kind, query) {
      const { order, limit, after } = query;
      if (after !== undefined && !isPlace(after))
        throw new InvalidInputError('after', 'the list cannot go on from there');
      const { first, last } = placesOf(query);
      const ascending = order === 'asc';
      const following = live(scope, kind)
        .filter(({ place }) => place >= first && place <= last)
        .filter(({ place }) => after === undefined || (ascending ? place > after : place < after))
        .sort((a, b) => (a.place < b.place === ascending ? -1 : 1));
      const items = following.slice(0, limit);
      return { items, next: following.length > limit ? items.at(-1)?.place : undefined };
    },
    async forgetRange(scope, kind, range) {
      const { first, last } = placesOf(range);
      const records = range.expiredToo ? [...memoryOf(scope).records[kind].values()] : live(scope, kind);
      const inRange = records.filter(({ place }) => place >= first && place <= last);
      return remove(scope, kind, inRange);
    },
    async forgetIds(scope, kind, ids) {
      const named = new Set(ids);
      return remove(
        scope,
        kind,
        live(scope, kind).filter(({ id }) => named.has(id)),
      );
    },
    async forgetScope(scope) {
      const messages = live(scope, 'message').length;
      sessions.delete(JSON.stringify([scope.agent, scope.session]));
      for (const [name, { scope: of }] of values) {
        if (of.kind === 'user' && of.agent === scope.agent && of.session === scope.session)
          values.delete(name);
      }
      return messages;
    },
    async putValue(scope, key, dump) {
      valuesOf(scope).set(key, { key, dump });
    },
    async listValues(scope) {
      return [...valuesOf(scope).values()].sort((a, b) => (a.key < b.key ? -1 : 1));
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
