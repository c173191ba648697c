import { valueMaxBytes } from '../defaults.ts';
import { TooLargeError } from '../persistence/persistence-error.ts';
import { checkName } from '../sessions/names.ts';
import { InvalidInputError } from './memory-error.ts';
import type { AppendRequest, MemoryStore, NamedValue, ValueScope } from './memory-store.ts';
import { packValue, unpackValue } from './message-codec.ts';

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
  return Object.fromEntries(await Promise.all((await store.listValues(scope)).map(entryOf)));
}

async function entryOf({ key, dump }: NamedValue): Promise<[string, unknown]> {
  return [key, await unpackValue(dump)];
}
