import { ttlMaxSecs } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';

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

const daySecs = 24 * 60 * 60;

/** Raw messages for 30 days, compaction after 7, capsules for ever, export and forget allowed. */
export const DEFAULT_RETENTION: RetentionPolicy = {
  name: 'default',
  rawRetentionSecs: 30 * daySecs,
  capsuleRetentionSecs: null,
  compactAfterSecs: 7 * daySecs,
  exportAllowed: true,
  forgetAllowed: true,
  metadata: {},
};

/** Keeps everything, and lets its owner export and forget it: what holds where nobody has defined an agent. */
export const KEEP_EVERYTHING: RetentionPolicy = {
  ...DEFAULT_RETENTION,
  name: 'keep-everything',
  rawRetentionSecs: null,
  compactAfterSecs: null,
};

/**
 * The policy that holds for an agent: its own, or the default one. With a list and a name, the one of that name.
 *
 * @throws InvalidInputError when no policy of the list has the name: a typing error must not let memory go
 * @example
 * selectPolicy({ name: 'support' }) === DEFAULT_RETENTION;        // true
 * selectPolicy([DEFAULT_RETENTION, strict], 'strict') === strict; // true
 */
export function selectPolicy(
  source: { readonly retention?: RetentionPolicy | undefined } | readonly RetentionPolicy[] | undefined,
  name?: string,
): RetentionPolicy {
  if (source === undefined) return DEFAULT_RETENTION;
  if (!isList(source)) return source.retention ?? DEFAULT_RETENTION;
  if (name === undefined) return DEFAULT_RETENTION;
  const named = source.find((policy) => policy.name === name);
  if (named === undefined) throw new InvalidInputError('name', `no policy is named ${JSON.stringify(name)}`);
  return named;
}

/**
 * The policy, checked as that of a definition is: one that a library's user built goes through no other check.
 *
 * @throws InvalidInputError naming the field
 */
export function checkPolicy(policy: RetentionPolicy): RetentionPolicy {
  if (typeof policy !== 'object' || policy === null)
    throw new InvalidInputError('policy', 'must be a retention policy');
  const problem = retentionProblem(policy);
  if (problem !== undefined) throw new InvalidInputError('policy', problem);
  return policy;
}

function isList(source: object): source is readonly RetentionPolicy[] {
  return Array.isArray(source);
}

/** A duration that keeps for ever, whichever way the policy says so, is undefined. */
export function secondsOf(duration: number | null): number | undefined {
  return duration !== null && duration > 0 ? duration : undefined;
}
