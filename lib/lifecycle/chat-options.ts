/** Neutral options of a model call: a compaction hands them on to whatever makes its summary. */
export interface ChatOptions {
  readonly model?: string | undefined;
  readonly system?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}
