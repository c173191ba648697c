/** Every default and limit of the library, with its unit in its name. */

/** Keys and agent names, in UTF-8 bytes. DynamoDB allows 1,024 in a sort key; escaping and prefixes need the rest. */
export const keyMaxBytes = 512;

/** An agent's name where HTTP, tables and schedules carry it: `agentNamePattern`. */
export const agentNameMaxChars = 128;

/** DynamoDB's limits for the two parts of an item's key, in UTF-8 bytes. */
export const partitionKeyMaxBytes = 2048;
export const sortKeyMaxBytes = 1024;

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

/** Lanes of writers that are long gone are removed from an item when it has more of them than this, so many at a time. */
export const lanesKept = 16;
export const lanesTrimmedAtOnce = 64;

/** Failed attempts, over all its requests, after which a call on DynamoDB gives up; each answer makes up for four, and for as many as these ahead. */
export const callAttempts = 16;

/** So long after its start a call that has seen a failure sends nothing more. API Gateway waits 29 seconds. */
export const callMaxMs = 15_000;

/** A request has at least this long for its answer, however late in its call it is sent. */
export const requestMinMs = 5_000;

/** How often a read or a commit starts over because another writer was faster. */
export const raceAttempts = 10;

/** How often an update starts over with the newer state, and the pauses between: at the most so long, by chance. */
export const updateAttempts = 20;
export const updatePauseMs = 5;
export const updatePauseMaxMs = 250;

/** Below this size compression does not pay: DynamoDB bills whole kilobytes. */
export const compressMinBytes = 512;

/** Up to this size a state is compressed at once, above it in another thread. */
export const compressInlineMaxBytes = 8 * 1024;

/** Levels of arrays and objects in JSON that is taken, stored or shown. Beyond it `JSON.stringify` ends with the stack. */
export const jsonMaxDepth = 3_000;

/** Levels of a state that holds what JSON cannot carry: its codec goes down as many calls. */
export const richMaxDepth = 1_500;

/** Holes in the arrays of a state, all of them together: what reads it back may walk over each. */
export const holesMax = 1_000_000;

/** As many may have been stored before there was a limit. Such a state can still be read. */
export const storedHolesMax = 100_000_000;

/** Digits of a bigint in a state. With its sign it is no longer than one that somebody sends may be. */
export const bigintMaxDigits = 9_999;

/** Bytes in the buffers and views of a state, all of them together, before base64 makes a third more of them. */
export const richBytesMax = 256 * 1024 * 1024;

/**
 * What a state or message that somebody sends may hold, however few bytes say it: a function of 1,024 MB has to hold it
 * as values, as text and as bytes at the same time.
 */
export const sentMaxValues = 500_000;
export const sentMaxChars = 32 * 1024 * 1024;

/** In a rich text that somebody sends: what takes far longer than its bytes to be read. */
export const sentMaxBigintChars = 10_000;
export const sentMaxPatternChars = 1_000;
export const sentMaxNumericKeys = 20_000;

/** What a value is shown as takes at the most, in characters: more than an answer of the HTTP API can carry. */
export const shownMaxChars = 8 * 1024 * 1024;

/** Longest content type that is kept, in characters. */
export const contentTypeMaxChars = 256;

/** Longest life of a snapshot that may be asked for: 100 years of 365 days. */
export const ttlMaxSecs = 3_153_600_000;

/** Instances of an agent are spread over this many partitions. Never change it for a table that holds data. */
export const instanceShards = 8;

/** Sessions of an agent are spread over this many partitions. Never change it for a table that holds data. */
export const sessionShards = 16;

/** Sessions read at a time by an iteration over all of them. */
export const sessionPageSize = 100;

/** A session's `meta` as JSON, in bytes. A list of sessions reads all of it. */
export const sessionMetaMaxBytes = 32 * 1024;

/** Messages in one call. */
export const rememberMaxMessages = 100;

/** Messages in a page of `recent`, unless asked otherwise, and at the most. */
export const recentPageSize = 50;
export const recentMaxPageSize = 1000;

/** An export reads fewer records at a time where a page of them is larger, packed. */
export const exportPageBytes = 1024 * 1024;

/** A message or capsule up to this size, packed, lives in its item. The item stands in the table and in its index. */
export const recordInlineMaxBytes = 8 * 1024;

/** A value of the user data or the knowledge, packed: it must fit into one item. */
export const valueMaxBytes = 320 * 1024;

/** Knowledge of an agent is spread over this many partitions. Never change it for a table that holds data. */
export const knowledgeShards = 16;

/** Items of memory written, read or deleted at the same time by one call. */
export const memoryConcurrency = 16;

/** How long a request of several messages is known as the same one when it is sent again. */
export const requestKnownForSecs = 24 * 60 * 60;

/** How long a call that began before a forget is told from one that began after it. */
export const markerSecs = 24 * 60 * 60;

/** How long the id of a compacted message that never expires is known as that message's. */
export const compactedKnownForSecs = 365 * 24 * 60 * 60;

/** A call whose requests may still be on their way keeps its place in the session's clock for this long. */
export const uncertainLaneMs = 2 * 60 * 1000;

/** What one call announces at a time, in bytes of keys; and what it does not leave behind in the session's clock. */
export const intentMaxBytes = 4 * 1024;
export const wideIntentBytes = 1024;

/** So many writers may have left their last announcements in a session's clock before old ones are removed. */
export const lanesMax = 32;

/** Entries that an agent's error log keeps. */
export const maxErrors = 1000;

/** Errors of an agent are spread over this many partitions. Never change it for a table that holds data. */
export const errorShards = 8;

/** An error is kept this long, however few there are. */
export const errorRetentionSecs = 90 * 24 * 60 * 60;

/** What is kept of an error's message and of its stack, in characters. */
export const errorMessageMaxChars = 2_000;
export const errorStackMaxChars = 8_000;

/** How long a writer of errors goes by what it has seen of the others' clocks. */
export const errorLookMs = 60 * 1000;

/** One in so many recorded errors, by chance, also deletes what has rolled out of the log. Readers never see it, deleted or not. */
export const errorTrimInterval = 32;

/** Sessions that a run has under way at the same time, and the time that each one has, unless the agent says otherwise. */
export const sessionConcurrency = 10;
export const sessionTimeoutSecs = 60;

/** A session's time is shorter than this: timers of 2^31 ms and more fire at once. */
export const sessionTimeoutEndSecs = 2_000_000;

/** Raw messages that one compaction summarises at the most. */
export const compactionMaxMessages = 200;

/** And no more bytes than this, before compression, unless its first message has more. */
export const compactionMaxBytes = 8 * 1024 * 1024;

/** Jobs that are committed together. After a crash at the most so many sessions of a shard are visited again. */
export const jobPageSize = 100;

/** A job's result as JSON, in bytes. A page of jobs must fit into one item. */
export const jobResultMaxBytes = 1024;

/** What is read of the answer to a webhook, and what a job says of the problem in it, in characters. */
export const webhookAnswerMaxBytes = 64 * 1024;
export const webhookProblemMaxChars = 300;

/** Sessions that a run may be asked to visit by name. */
export const runMaxSessions = 100;

/** Runs and their jobs are kept this long. */
export const runRetentionSecs = 90 * 24 * 60 * 60;

/**
 * A run that shows no sign of life for this long no longer stands in the way of the next one. Longer than a message
 * that a worker died with takes to come again.
 */
export const runLeaseSecs = 2 * 60 * 60;

/**
 * How often somebody looks whether a run still shows signs of life: the longest that SQS delays a message. After so many
 * looks (3 hours) without one, the run has failed: every message of a shard has been delivered as often as it ever is
 * after 2 h 25 min, if each delivery died, or failed and waited.
 */
export const runWatchSecs = 15 * 60;
export const runSilentLooks = 12;

/** Requested runs of an agent that may be under way at the same time, where they may overlap. */
export const requestedRunsMax = 50;

/** After so many deliveries that failed, the message of a shard is dead-lettered and the shard given up. */
export const runReceiveLimit = 5;

/** Messages that were dead-lettered, of which the queue of one process keeps the newest. */
export const deadLettersKept = 1000;

/** What a worker keeps of its time for committing a page and handing the rest on. */
export const handOverReserveMs = 5_000;

/** How many of an agent's newest runs are looked at for ones that were cut off. */
export const resumedRuns = 1000;

/** How often a run repeats a call that its storage refused, and the unit of the pauses between. */
export const storageAttempts = 8;
export const storageRetryBaseMs = 25;

/** After this long a call is not repeated any more, however few its attempts. */
export const storageRetryMaxMs = 20_000;
