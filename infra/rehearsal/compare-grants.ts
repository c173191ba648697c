import type { Calls } from './calls.ts';
import type { ExplainedGrant } from './explained-grants.ts';
import { type Grant, nameOf } from './grants.ts';

export interface GrantVerdict extends Grant {
  readonly calls: number;
  readonly verdict: 'used' | 'explained' | 'unused';
  readonly reason: string;
}

export interface Comparison {
  readonly grants: readonly GrantVerdict[];
  /** Calls that no grant covers: the emulator let something pass. */
  readonly uncovered: readonly FunctionCalls[];
  /** Explanations of grants that are not there (any more). */
  readonly stale: readonly ExplainedGrant[];
}

/** Calls of one function, by its name. */
export interface FunctionCalls extends Omit<Calls, 'accessKey'> {
  readonly fn: string;
}

/**
 * Holds what the functions may do against what they did. An action with a wildcard counts as unused: nobody can tell
 * which of its parts are needed.
 *
 * @param physicalName of the resource with a logical id
 */
export function compareGrants(
  grants: readonly Grant[],
  calls: readonly FunctionCalls[],
  explained: readonly ExplainedGrant[],
  physicalName: (logicalId: string) => string,
): Comparison {
  const covers = (grant: Grant, call: FunctionCalls) =>
    grant.fn === call.fn &&
    grant.action === call.action &&
    matches(grant.resource, call.resource, physicalName);
  const judge = (grant: Grant): GrantVerdict => {
    const count = calls.filter((call) => covers(grant, call)).reduce((sum, call) => sum + call.count, 0);
    const reason = explained.find((line) => explains(line, grant))?.reason;
    if (count > 0) return { ...grant, calls: count, verdict: 'used', reason: '' };
    return { ...grant, calls: 0, verdict: reason ? 'explained' : 'unused', reason: reason ?? '' };
  };
  return {
    grants: grants.map(judge),
    uncovered: calls.filter((call) => !grants.some((grant) => covers(grant, call))),
    stale: explained.filter((line) => !grants.some((grant) => explains(line, grant))),
  };
}

function explains(line: ExplainedGrant, { fn, action, resource }: Grant): boolean {
  const isAbout = line.resource === undefined || referencedNames(resource).includes(line.resource);
  return line.action === action && (line.fn === 'every' || line.fn === fn) && isAbout;
}

function referencedNames(resource: string): string[] {
  return [...resource.matchAll(/\{(\w+)\}/g)].map(([, id]) => nameOf(id ?? ''));
}

function matches(granted: string, called: string, physicalName: (logicalId: string) => string): boolean {
  const pattern = withoutArn(granted).replace(/\{(\w+)\}/g, (_braces, id: string) => physicalName(id));
  const source = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`).test(called);
}

/** Calls name a secret without its ARN, and without the six characters that this ends with. */
function withoutArn(granted: string): string {
  return /^arn:.*:secret:(.+)-\?{6}$/.exec(granted)?.[1] ?? granted;
}
