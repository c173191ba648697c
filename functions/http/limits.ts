import { sentMaxChars } from '../../lib/defaults.ts';

/** Lambda's limit for a synchronous invocation, request and response alike, in bytes of its JSON. */
export const payloadMaxBytes = 6 * 1024 * 1024;

/** Room for what a response carries besides its body: status, headers, JSON punctuation. */
const envelopeBytes = 4 * 1024;

/** What one response body may take, in the form in which it travels (JSON text or base64). */
export const bodyMaxBytes = payloadMaxBytes - envelopeBytes;

/** What a gzip request may inflate to. Past it inflating stops, whatever the body claims. */
export const inflatedMaxBytes = sentMaxChars;

/** Levels of arrays and objects in JSON that is kept as it was sent. What has to be written again takes `jsonMaxDepth`. */
export const sentMaxDepth = 10_000;

/** ETags in one precondition header: each is an operand of a DynamoDB condition, which takes 100. */
export const etagsMax = 50;

/** How far back `hours` may ask: more than a thousand years. */
export const hoursMax = 9_999_999;
