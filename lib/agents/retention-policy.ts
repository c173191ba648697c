/** How long an agent's memory is kept. Durations in seconds; `null` keeps for ever (or never compacts). */
export interface RetentionPolicy {
  readonly name: string;
  readonly rawRetentionSecs: number | null;
  readonly capsuleRetentionSecs: number | null;
  readonly compactAfterSecs: number | null;
  readonly exportAllowed: boolean;
  readonly forgetAllowed: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}
