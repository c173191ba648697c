/*
 * What several writers did to the memory of one session, and were answered. What must hold of it stands in messages.ts
 * (each message by itself, none lost), capsules.ts (each capsule by itself), order.ts and values.ts.
 */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A message as it is sent or read. Two of one id with the same content are the same message. */
export interface Message {
  readonly id: string;
  readonly content: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** `unknown`: the caller was told that it failed. It may have taken effect, once, or not. */
export type Fate = 'ok' | 'unknown';

export interface Remember extends Span {
  readonly kind: 'remember';
  /** In the order of the call; `conflict` where another content was stored under the id. */
  readonly sent: readonly (Message & { readonly fate: Fate | 'conflict' })[];
}

/** What a forget is of: all, the messages of a source and the capsules made with one, or those of a range of time. */
export type Selection =
  | { readonly of: 'session' }
  | { readonly of: 'source'; readonly source: string }
  | { readonly of: 'range'; readonly first: number; readonly last: number; readonly capsules: boolean };

export interface Forget extends Span {
  readonly kind: 'forget';
  readonly what: Selection;
  readonly fate: Fate;
}

/** A capsule that a compaction would store: its own messages, and the capsule that it builds on. */
export interface MadeCapsule {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly previous: string | undefined;
}

interface Compaction extends Span {
  readonly kind: 'compact';
  readonly made: MadeCapsule;
  /** `none`: it was told that it has stored nothing. */
  readonly fate: Fate | 'none';
}

/** All messages, oldest first, and when these had been read, the names of all capsules. */
export interface Read extends Span {
  readonly kind: 'read';
  readonly messages: readonly Message[];
  readonly between: number;
  readonly capsules: readonly string[];
}

export type Operation = Remember | Forget | Compaction | Read;

/** Only sources of messages are not part of them here: what is sent under an id always has the same one. */
export type SourceOf = (id: string) => string | undefined;

/** A history, sorted into what the laws ask for. */
export interface History {
  readonly remembers: readonly Remember[];
  readonly forgets: readonly Forget[];
  readonly compactions: readonly Compaction[];
  readonly reads: readonly Read[];
  readonly ids: readonly string[];
  /** All messages that a capsule stands for: its own, and those of the capsules that it builds on. */
  coveredBy(capsule: string): readonly Message[];
  forgetsMessage(what: Selection, message: Pick<Message, 'id' | 'at'>): boolean;
  forgetsCapsule(what: Selection, capsule: string): boolean;
}

export function historyOf(operations: readonly Operation[], sourceOf: SourceOf): History {
  const of = <Kind extends Operation['kind']>(kind: Kind) =>
    operations.filter((one): one is Extract<Operation, { kind: Kind }> => one.kind === kind);
  const [remembers, forgets, compactions, reads] = [of('remember'), of('forget'), of('compact'), of('read')];
  const made = new Map(compactions.map((compaction) => [compaction.made.name, compaction.made]));
  const coveredBy = (capsule: string): readonly Message[] => {
    const { messages = [], previous } = made.get(capsule) ?? {};
    return previous === undefined ? messages : [...coveredBy(previous), ...messages];
  };
  const sent = remembers.flatMap((remember) => remember.sent.map(({ id }) => id));
  const seen = reads.flatMap((read) => read.messages.map(({ id }) => id));
  return {
    ...{ remembers, forgets, compactions, reads, coveredBy },
    ids: [...new Set([...sent, ...seen])],
    forgetsMessage(what, { id, at }) {
      if (what.of === 'session') return true;
      return what.of === 'source' ? what.source === sourceOf(id) : what.first <= at && at <= what.last;
    },
    forgetsCapsule(what, capsule) {
      if (what.of === 'session') return true;
      const covered = coveredBy(capsule);
      if (what.of === 'source') return covered.some(({ id }) => what.source === sourceOf(id));
      const times = covered.map(({ at }) => at);
      return what.capsules && Math.min(...times) <= what.last && Math.max(...times) >= what.first;
    },
  };
}

/** Until when a forget may take effect. */
export function endOf({ fate, to }: Pick<Forget, 'fate' | 'to'>): number {
  return fate === 'ok' ? to : Number.POSITIVE_INFINITY;
}

/**
 * Before what a call that was told that it failed may take effect: forgets, by the moments at which they began. What one
 * covers that began after that answer, and has succeeded, does not come back.
 */
export function closedBy(
  answeredAt: number,
  forgets: readonly Forget[],
  covers: (what: Selection) => boolean,
): number[] {
  return forgets
    .filter(({ fate, from, what }) => fate === 'ok' && from > answeredAt && covers(what))
    .map(({ from }) => from);
}
