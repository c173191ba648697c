import type { ListSnapshotsQuery, SnapshotInfo, SnapshotPage } from './snapshot-store.ts';

/** One page of snapshots that are all at hand, in key order: for stores that have no index of their own. */
export function pageOf(
  all: readonly { storeKey: string; snapshot: SnapshotInfo }[],
  { scope, prefix = '', limit, after }: ListSnapshotsQuery,
): SnapshotPage {
  const start = `${scope}/`;
  const matching = all
    .filter(({ storeKey }) => storeKey.startsWith(start + prefix))
    .map(({ storeKey, snapshot }) => ({ ...infoOf(snapshot), key: storeKey.slice(start.length) }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const items = matching.slice(0, limit);
  return { items, next: matching.length > limit ? items.at(-1)?.key : undefined };
}

function infoOf(snapshot: SnapshotInfo): SnapshotInfo {
  const { etag, version, format, contentType, encoding, bytes, storedBytes, updatedAt, expiresAt } = snapshot;
  return { etag, version, format, contentType, encoding, bytes, storedBytes, updatedAt, expiresAt };
}
