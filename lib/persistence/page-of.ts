import type { ListedSnapshot, ListSnapshotsQuery, SnapshotInfo, SnapshotPage } from './snapshot-store.ts';

/**
 * One page of snapshots in key order, for stores that have no index of their own. They are added in any order; a page's
 * worth of them is held.
 */
export function pageCollector({ scope, prefix = '', limit, after }: ListSnapshotsQuery) {
  const start = `${scope}/`;
  let kept: ListedSnapshot[] = [];
  const trim = () => {
    // One more than the page tells that there is a next one.
    kept = kept.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit + 1);
  };

  return {
    add(storeKey: string, snapshot: SnapshotInfo): void {
      const key = storeKey.slice(start.length);
      if (!storeKey.startsWith(start + prefix) || (after !== undefined && key <= after)) return;
      kept.push({ ...infoOf(snapshot), key });
      if (kept.length > 2 * (limit + 1)) trim();
    },
    page(): SnapshotPage {
      trim();
      const items = kept.slice(0, limit);
      return { items, next: kept.length > limit ? items.at(-1)?.key : undefined };
    },
  };
}

function infoOf(snapshot: SnapshotInfo): SnapshotInfo {
  const { etag, version, format, contentType, encoding, bytes, storedBytes, updatedAt, expiresAt } = snapshot;
  return { etag, version, format, contentType, encoding, bytes, storedBytes, updatedAt, expiresAt };
}
