import type { Preconditions } from '../persistence/snapshot-store.ts';
import type { ExpressionParts } from './expression.ts';

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

/**
 * This write has not been applied yet, neither as the current snapshot nor as the one before: what keeps the SDK's
 * own retry of a write that did commit from being applied a second time, over somebody else's newer snapshot.
 */
export function notYetWritten(etagValue: string): string {
  return `NOT etag = ${etagValue} AND NOT previousEtag = ${etagValue}`;
}

/** The writer's chunk rows are still under its name: nobody has claimed them for removal. */
export function stillAnnounced(chunkSetValue: string, parts: ExpressionParts): string {
  return `contains(${parts.name('sets')}, ${chunkSetValue})`;
}
