import { IdConflictError, NotStoredError, UnavailableError } from '../../../lib/errors.ts';
import { compactMemory } from '../../../lib/lifecycle/compact-memory.ts';
import type { AgentMemory } from '../../../lib/memory/agent-memory.ts';
import type { Message as Stored } from '../../../lib/memory/message.ts';
import { oneOf } from '../faulty-writers.ts';
import { begin, chooseMessages, contentOf, slotMs, slots, sourceOf, summaryOf } from './contents.ts';
import type { Fate, MadeCapsule, Message, Operation, Remember, Selection } from './history.ts';
import type { ValueCall } from './values.ts';

/** Where the calls of all writers of a session are kept. */
export interface Recording {
  readonly operations: Operation[];
  readonly values: Record<string, ValueCall[]>;
  readonly torn: string[];
}

/** A writer's memory, whose clock shows the moment that was set last. */
export interface WriterMemory {
  readonly memory: AgentMemory;
  setClock(at: number): void;
}

export interface Chance {
  readonly index: number;
  readonly random: () => number;
  readonly moment: () => number;
}

/** The calls of one writer on the memory of a session, each recorded with its moments and its outcome. */
export function memoryWriter(
  { memory, setClock }: WriterMemory,
  { index, random, moment }: Chance,
  { operations, values, torn }: Recording,
) {
  let calls = 0;

  /** Undefined where the call has failed, and nobody knows what became of it. */
  const attempt = async <T>(call: () => Promise<T>): Promise<{ value: T } | undefined> => {
    try {
      return { value: await call() };
    } catch (error) {
      if (!(error instanceof UnavailableError)) torn.push(`${memory.scope.session}: ${error}`);
      return undefined;
    }
  };

  const messageOf = ({ id, content, timestamp }: Stored): Message => {
    const { content: name, pad } = content as { content: string; pad: string };
    if (pad !== contentOf(name).pad) torn.push(`${memory.scope.session}: ${id} is torn`);
    return { id, content: name, at: Date.parse(timestamp) };
  };

  const send = async (messages: readonly Message[], withTime: boolean): Promise<boolean> => {
    const from = moment();
    setClock(messages[0]?.at ?? begin);
    const sent = messages.map(({ id, content, at }) => ({
      ...{ id, content: contentOf(content), source: sourceOf(id) },
      ...(withTime && { timestamp: at }),
    }));
    let fateOf: (id: string) => Remember['sent'][number]['fate'] = () => 'ok';
    try {
      await memory.remember(sent);
    } catch (error) {
      const ids = error instanceof IdConflictError || error instanceof NotStoredError ? error.ids : undefined;
      if (error instanceof IdConflictError) fateOf = (id) => (ids?.includes(id) ? 'conflict' : 'ok');
      // Of those that were stored, one may have been a conflict.
      else if (error instanceof UnavailableError) fateOf = () => 'unknown';
      else torn.push(`${memory.scope.session}: ${error}`);
    }
    const withFates = messages.map((message) => ({ ...message, fate: fateOf(message.id) }));
    operations.push({ kind: 'remember', sent: withFates, from, to: moment() });
    return withFates.some(({ fate }) => fate === 'unknown');
  };

  const remember = async () => {
    const messages = chooseMessages(`w${index}c${calls}`, random);
    const withTime = messages.length > 1 || random() < 0.5;
    for (let sendings = 1; (await send(messages, withTime)) && sendings < 3 && random() < 0.7; sendings++);
  };

  /** Reading changes nothing: whoever fails does it again. */
  const read = async (readings = 3): Promise<void> => {
    const limit = oneOf([2, 50], random);
    const order = oneOf<'asc' | 'desc'>(['asc', 'desc'], random);
    const from = moment();
    const messages = await attempt(async () => {
      const found: Stored[] = [];
      for (let after: string | undefined, isLast = false; !isLast; isLast = after === undefined) {
        const page = await memory.recent({ limit, order, after });
        found.push(...page.items);
        after = page.next;
      }
      return order === 'asc' ? found : found.reverse();
    });
    const between = moment();
    const capsules = messages && (await attempt(() => memory.listCapsules({ limit: 1000 })));
    if (messages === undefined || capsules === undefined)
      return readings > 1 ? read(readings - 1) : undefined;
    operations.push({
      ...{ kind: 'read', from, between, to: moment() },
      messages: messages.value.map(messageOf),
      capsules: capsules.value.items.map(({ summary }) => nameOf(summary)),
    });
  };

  const nameOf = (summary: unknown): string => {
    const { name, pad } = summary as { name: string; pad: string };
    if (pad !== summaryOf(name).pad) torn.push(`${memory.scope.session}: the capsule ${name} is torn`);
    return name;
  };
  const forget = async () => {
    const [first, last] = [random(), random()].map((chance) => begin + Math.floor(chance * slots) * slotMs);
    const range = { from: Math.min(first ?? 0, last ?? 0), to: Math.max(first ?? 0, last ?? 0) };
    const source = oneOf(['doc-a', 'doc-b'], random);
    const chance = random();
    const capsules = random() < 0.5;
    const from = moment();
    let what: Selection;
    let call: () => Promise<unknown>;
    if (chance < 0.4) {
      what = { of: 'range', first: range.from, last: range.to, capsules };
      call = () => memory.forgetMessages(range, { capsules: capsules ? 'forget' : 'keep' });
    } else if (chance < 0.7) {
      what = { of: 'source', source };
      call = () => memory.forgetBySourceId(source);
    } else {
      what = { of: 'session' };
      call = () => memory.forgetSession();
    }
    const fate: Fate = (await attempt(call)) === undefined ? 'unknown' : 'ok';
    const to = moment();
    operations.push({ kind: 'forget', what, fate, from, to });
    if (what.of !== 'session') return;
    for (const key of userKeys) record(`user ${key}`, { kind: 'forget', fate, from, to });
  };

  const compact = async () => {
    const from = moment();
    let made: MadeCapsule | undefined;
    const until = begin + Math.floor(random() * (slots + 1)) * slotMs;
    setClock(begin);
    const result = await attempt(() =>
      compactMemory(
        memory,
        ({ messages, previous }) => {
          const name = `c${index}${calls}`;
          const before = previous && nameOf(previous.summary);
          made = { name, messages: messages.map(messageOf), previous: before };
          return summaryOf(name);
        },
        { until, maxMessages: 3 },
      ),
    );
    if (made === undefined) return;
    const isStored = result?.value.status === 'compacted';
    const fate = result === undefined ? 'unknown' : isStored ? 'ok' : 'none';
    operations.push({ kind: 'compact', made, fate, from, to: moment() });
  };

  const record = (name: string, call: ValueCall) => {
    values[name] ??= [];
    values[name]?.push(call);
  };

  const useValues = async () => {
    const [isUser, key, chance] = [random() < 0.6, oneOf(userKeys, random), random()];
    const name = isUser ? `user ${key}` : `knowledge ${key}`;
    const from = moment();
    if (chance < 0.4) {
      const value = `w${index}c${calls}`;
      const done = await attempt(() => (isUser ? memory.setUserData(key, value) : memory.learn(key, value)));
      record(name, { kind: 'set', value, fate: done ? 'ok' : 'unknown', from, to: moment() });
    } else if (chance < 0.65) {
      const done = await attempt(() => (isUser ? memory.forgetUserKey(key) : memory.forgetKbKey(key)));
      record(name, {
        kind: 'forget',
        fate: done ? 'ok' : 'unknown',
        wasSet: done?.value,
        from,
        to: moment(),
      });
    } else await readValues(isUser);
  };

  const readValues = async (isUser: boolean) => {
    const from = moment();
    const found = await attempt(() => (isUser ? memory.getUserData() : memory.getKnowledge()));
    const to = moment();
    if (found === undefined) return;
    for (const key of userKeys) {
      const value = found.value[key] as string | undefined;
      record(isUser ? `user ${key}` : `knowledge ${key}`, { kind: 'get', value, from, to });
    }
  };

  return {
    read,
    readValues,
    /** In a calm session nothing is forgotten. */
    async call(isCalm: boolean) {
      calls++;
      const chance = random();
      if (chance < 0.42) await remember();
      else if (chance < 0.62) await read();
      else if (chance < 0.76) await (isCalm ? remember() : forget());
      else if (chance < 0.86) await compact();
      else await useValues();
    },
  };
}

const userKeys = ['color', 'size'] as const;
