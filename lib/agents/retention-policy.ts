import { ttlMaxSecs } from '../defaults.ts';

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

const durations = ['rawRetentionSecs', 'capsuleRetentionSecs', 'compactAfterSecs'] as const;
const permissions = ['exportAllowed', 'forgetAllowed'] as const;

/** What is wrong with a policy, beginning with the field; undefined where nothing is. */
export function retentionProblem(policy: RetentionPolicy): string | undefined {
  if (typeof policy.name !== 'string') return 'name must be a string';
  for (const field of durations) {
    const seconds = policy[field];
    if (seconds === null) continue;
    if (!Number.isSafeInteger(seconds)) return `${field} must be whole seconds or null`;
    // Further away there are no dates. Who wants no end says so.
    if (Math.abs(seconds) > ttlMaxSecs)
      return `${field} must be at most ${ttlMaxSecs} seconds (100 years), or null, which keeps for ever`;
  }
  for (const field of permissions) {
    // Any non-empty string is truthy, also 'no'.
    if (typeof policy[field] !== 'boolean') return `${field} must be true or false`;
  }
  const { rawRetentionSecs, compactAfterSecs } = policy;
  const keepsRaw = rawRetentionSecs !== null && rawRetentionSecs > 0;
  if (keepsRaw && compactAfterSecs !== null && compactAfterSecs > rawRetentionSecs)
    return 'compactAfterSecs is longer than rawRetentionSecs: messages would go before they are compacted';
  return undefined;
}
