import type { Dump, Snapshot } from './snapshot-store.ts';

/** The snapshot that a store without partial updates keeps for a dump, in place of the current one. */
export function snapshotOf(
  dump: Dump,
  current: { version: number } | undefined,
  written: { etag: string; updatedAt: Date; expiresAt: Date | undefined },
): Snapshot {
  const { format, contentType, encoding, bytes } = dump;
  const version = (current?.version ?? 0) + 1;
  // A copy, so that a caller who goes on using its buffer does not change what is stored.
  const kept = { ...dump, data: Uint8Array.from(dump.data) };
  return {
    ...written,
    version,
    format,
    contentType,
    encoding,
    bytes,
    storedBytes: dump.data.length,
    dump: kept,
  };
}
