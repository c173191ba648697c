import type { Identity } from '../sessions/session.ts';
import type { Timestamp } from './timestamp.ts';

/** A message as it is handed to `remember`. */
export interface NewMessage {
  /** Names the message, so that sending it again is recognised. Without it, one is made. */
  readonly id?: string | undefined;
  /** Any value that a snapshot could hold. */
  readonly content: unknown;
  /** Without it, the identity that the memory was made for. */
  readonly sender?: Identity | undefined;
  /** Without it, now. */
  readonly timestamp?: Timestamp | undefined;
  /** Where it came from: an id, or an object with one, by which `forgetBySourceId` finds it. */
  readonly source?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A message as it is remembered. */
export interface Message {
  readonly id: string;
  readonly content: unknown;
  readonly sender: Identity;
  /** ISO 8601, in UTC. */
  readonly timestamp: string;
  /** `null` where none was given. */
  readonly source: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A summary of a window of raw messages, with pointers to what it was made of. */
export interface Capsule {
  readonly id: string;
  readonly summary: unknown;
  /** The first and the last moment of the messages that it covers, those of earlier capsules in it included. ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** How many messages it covers, those of earlier capsules in it included. */
  readonly messageCount: number;
  /** The messages that were summarised for this capsule, in order. */
  readonly messageIds: readonly string[];
  /**
   * The sources of the messages that were summarised for this capsule; those of the capsules that it builds on are
   * theirs. Capsules of releases before that named all of them.
   */
  readonly sourceIds: readonly string[];
  /** The capsule that it builds on. */
  readonly previousId: string | null;
  /**
   * What had arrived in the session when its messages were read: a message that came later under one of its ids is
   * another one. Only what a compaction made has it.
   */
  readonly horizon?: number | undefined;
  readonly createdAt: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The id in a message's `source`, if it has one. */
export function sourceIdOf({ source }: Pick<Message, 'source'>): string | undefined {
  if (typeof source === 'string') return source;
  const id = typeof source === 'object' && source !== null && 'id' in source ? source.id : undefined;
  return typeof id === 'string' ? id : undefined;
}
