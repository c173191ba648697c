/** A conversation container of an agent: a chat, a channel, a thread. */
export interface Session {
  readonly id: string;
  /** Whatever the caller wants to know of it; replaced by each registration. */
  readonly meta: Readonly<Record<string, unknown>>;
  readonly registeredAt: Date;
  readonly lastActiveAt: Date;
}

/** A participant, the same one in every session. */
export interface Identity {
  readonly id: string;
  readonly name?: string | undefined;
}
