import { valueMaxBytes } from '../defaults.ts';
import { ForbiddenByPolicyError, InvalidInputError, TooLargeError } from '../errors.ts';
import { checkName } from '../input.ts';
import { inPagesOfBytes } from './every-record.ts';
import type {
  AppendRequest,
  MemoryStore,
  NamedValue,
  ValuePage,
  ValueQuery,
  ValueScope,
} from './memory-store.ts';
import { packValue, unpackValue } from './message-codec.ts';
import type { RetentionPolicy } from './retention.ts';

/** The values of one scope, under the agent's policy. */
export interface NamedValues {
  /** Resolves undefined where none is set: no value is undefined. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  /** Resolves false when it was not set. */
  forget(key: string): Promise<boolean>;
  /** One page in the order of the keys, packed: see `unpackValue`. */
  list(query: ValueQuery): Promise<ValuePage>;
}

/** @param admit decides whether a value may be set: what it throws, `set` rejects */
export function namedValues(
  store: MemoryStore,
  scope: ValueScope,
  { policy, admit }: { readonly policy: RetentionPolicy; readonly admit?: AppendRequest['admit'] },
): NamedValues {
  return {
    async get(key) {
      const dump = await store.getValue(scope, checkName('key', key));
      return dump && unpackValue(dump);
    },
    set: (key, value) => setValue(store, scope, key, value, { admit }),
    async forget(key) {
      if (!policy.forgetAllowed) throw new ForbiddenByPolicyError(policy.name, 'forgetting');
      return store.forgetValue(scope, checkName('key', key));
    },
    list: (query) => store.listValues(scope, query),
  };
}

export async function setValue(
  store: MemoryStore,
  scope: ValueScope,
  key: string,
  value: unknown,
  options?: Pick<AppendRequest, 'admit' | 'since'>,
) {
  checkName('key', key);
  if (value === undefined) throw new InvalidInputError('value', 'is missing');
  const dump = await packValue(value, 'value');
  if (dump.data.length > valueMaxBytes) throw new TooLargeError(dump.data.length, valueMaxBytes);
  await store.putValue(scope, key, dump, options);
}

/** All values of a scope by key. Built without a setter, so that a key such as `__proto__` is only a key. */
export async function valuesOf(store: MemoryStore, scope: ValueScope): Promise<Record<string, unknown>> {
  const entries: [string, unknown][] = [];
  for await (const { key, dump } of everyValue(store, scope)) entries.push([key, await unpackValue(dump)]);
  return Object.fromEntries(entries);
}

/** The values of a scope in the order of their keys, of which a page of about a megabyte is held. */
export function everyValue(
  store: MemoryStore,
  scope: ValueScope,
): AsyncGenerator<NamedValue, void, undefined> {
  return inPagesOfBytes((query) => store.listValues(scope, query));
}
