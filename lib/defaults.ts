/** Every default and limit of the library, with its unit in its name. */

/** Keys and agent names, in UTF-8 bytes. DynamoDB allows 1,024 in a sort key; escaping and prefixes need the rest. */
export const keyMaxBytes = 512;

/** A packed snapshot up to this size lives in its head item, so that it costs one write and one read. */
export const inlineMaxBytes = 32 * 1024;

/** One chunk row: below DynamoDB's item limit of 409,600 bytes with its keys, owner and attribute names. */
export const chunkMaxBytes = 384 * 1024;

/** What a store takes at the most, packed. The HTTP API's limit is lower (see functions/http/limits.ts). */
export const snapshotMaxBytes = 64 * 1024 * 1024;

/** Chunk rows written, read or deleted at the same time by one call. */
export const chunkConcurrency = 8;

/** An announced chunk set that is still not committed after this long belongs to a writer that died. */
export const abandonedAfterMs = 15 * 60 * 1000;

/** How often a read or a commit starts over because another writer was faster. */
export const raceAttempts = 10;

/** Below this size compression does not pay: DynamoDB bills whole kilobytes. */
export const compressMinBytes = 512;

/** Up to this size a state is compressed at once, above it in another thread. */
export const compressInlineMaxBytes = 8 * 1024;

/** Longest content type that is kept, in characters. */
export const contentTypeMaxChars = 256;

/** Longest life of a snapshot that may be asked for: 100 years of 365 days. */
export const ttlMaxSecs = 3_153_600_000;

/** Instances of an agent are spread over this many partitions. Never change it for a table that holds data. */
export const instanceShards = 8;
