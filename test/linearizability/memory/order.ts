import { endOf, type History, type Read } from './history.ts';

/*
 * The order of messages is total and stable, which is checked in time that grows with the pairs that are read together:
 * 1. within a read, by time, and none twice, 2. two of the same time have the same order in every read, 3. that of their
 * arrival: where one was acknowledged before any call with the other began; and that of their call where no other call has
 * one of them, and nothing was forgotten between its retries. None of it where one of the two has been forgotten in
 * between, and has come anew.
 */

/** Descriptions of what is out of order. */
export function disorder(history: History): string[] {
  const found = new Set<string>();
  for (const read of history.reads) {
    for (const [index, { id, at }] of read.messages.entries()) {
      const before = read.messages[index - 1];
      if (before !== undefined && before.at > at)
        found.add(`${id} of an earlier time stands after ${before.id}`);
      const isTwice = read.messages.findIndex((other) => other.id === id) < index;
      if (isTwice && !wasForgotten(history, [id], read.from)) found.add(`${id} is there twice`);
    }
  }
  const pairs = history.reads.flatMap(pairsOf);
  const readIn = new Map<string, Read>(pairs.map(({ first, second, read }) => [`${first} ${second}`, read]));
  for (const { first, second, read } of pairs) {
    const other = readIn.get(`${second} ${first}`);
    if (other && !wasForgotten(history, [first, second], Math.min(read.from, other.from)))
      found.add(`${first} and ${second} have changed their order`);
    const since = arrivedFirst(history, second, first);
    if (since !== undefined && !wasForgotten(history, [first, second], since))
      found.add(`${second} had arrived before ${first}`);
  }
  return [...found];
}

interface Pair {
  readonly first: string;
  readonly second: string;
  readonly read: Read;
}

/** Messages of the same time in the order in which they were read. */
function pairsOf(read: Read): Pair[] {
  return read.messages.flatMap((one, index) =>
    read.messages
      .slice(index + 1)
      .filter((other) => other.at === one.at && other.id !== one.id)
      .map((other) => ({ first: one.id, second: other.id, read })),
  );
}

/** By itself, or with a capsule that it had gone into: either frees its id. */
function wasForgotten(
  { forgets, remembers, compactions, coveredBy, forgetsMessage, forgetsCapsule }: History,
  ids: string[],
  since: number,
): boolean {
  const messages = remembers.flatMap(({ sent }) => sent.filter(({ id }) => ids.includes(id)));
  const capsules = compactions
    .map(({ made }) => made.name)
    .filter((name) => coveredBy(name).some(({ id }) => ids.includes(id)));
  return forgets.some(
    (forget) =>
      endOf(forget) > since &&
      (messages.some((message) => forgetsMessage(forget.what, message)) ||
        capsules.some((capsule) => forgetsCapsule(forget.what, capsule))),
  );
}

/** Since when it is certain that one has arrived before the other. */
function arrivedFirst({ remembers, forgets }: History, one: string, other: string): number | undefined {
  const callsOf = (id: string) => remembers.filter(({ sent }) => sent.some((message) => message.id === id));
  const [ofOne, ofOther] = [callsOf(one), callsOf(other)];
  const firstOther = Math.min(...ofOther.map(({ from }) => from));
  const since = Math.min(...[...ofOne, ...ofOther].map(({ from }) => from));
  const isStored = ofOne.some(
    ({ sent, to }) => to < firstOther && sent.some(({ id, fate }) => id === one && fate === 'ok'),
  );
  if (isStored) return since;
  if (forgets.some((forget) => endOf(forget) > since)) return undefined;
  // Two calls with the same ids are one request only where all of it is the same: else each may have stored some of it.
  const requests = [...ofOne, ...ofOther].map(({ sent }) =>
    JSON.stringify(sent.map(({ id, content, at }) => [id, content, at])),
  );
  const order = (ofOne[0]?.sent ?? []).map(({ id }) => id);
  const inOne = new Set(requests).size === 1 && order.includes(one) && order.includes(other);
  return inOne && order.indexOf(one) < order.indexOf(other) ? since : undefined;
}
