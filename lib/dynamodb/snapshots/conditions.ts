import type { Preconditions } from '../../persistence/snapshot-store.ts';
import type { ExpressionParts } from '../expression.ts';
import type { Turn } from '../lanes.ts';

/** The caller's preconditions as DynamoDB evaluates them on the head item, in the one step that also writes it. */
export function preconditionClauses(
  { ifMatch, ifNoneMatch }: Preconditions,
  parts: ExpressionParts,
): string[] {
  const clauses: string[] = [];
  const stored = (exists: boolean) => `attribute_${exists ? '' : 'not_'}exists(${parts.name('etag')})`;
  const isOneOf = (etags: readonly string[]) => {
    const values = etags.map((etag) => parts.value({ S: etag }));
    return `${parts.name('etag')} IN (${values.join(', ')})`;
  };

  if (ifMatch !== undefined) clauses.push(ifMatch === '*' ? stored(true) : isOneOf(ifMatch));
  if (ifNoneMatch !== undefined) {
    clauses.push(ifNoneMatch === '*' ? stored(false) : `(${stored(false)} OR NOT ${isOneOf(ifNoneMatch)})`);
  }
  return clauses;
}

/** The stored snapshot, if any, has not expired. A comparison with an absent attribute is false, its negation true. */
export function unexpired(now: Date, parts: ExpressionParts): string {
  return `NOT ${parts.name('info')}.${parts.name('expiresAt')} <= ${parts.value({ N: String(now.getTime()) })}`;
}

/** No try of this write has been applied yet (see lanes.ts). A comparison with an absent attribute is false. */
export function notApplied({ attribute }: Turn, markValue: string): string {
  return `NOT ${attribute} >= ${markValue}`;
}

/** Nothing is stored, and no chunk row is named. */
export function nothingNamed(parts: ExpressionParts): string {
  return ['etag', 'sets', 'dead'].map((name) => `attribute_not_exists(${parts.name(name)})`).join(' AND ');
}

/** The writer's chunk rows are still under its name: nobody has claimed them for removal. */
export function stillAnnounced(chunkSetValue: string, parts: ExpressionParts): string {
  return `contains(${parts.name('sets')}, ${chunkSetValue})`;
}
