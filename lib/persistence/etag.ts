import { randomBytes } from 'node:crypto';

/** A new ETag, never given before: 128 random bits. Also the write id by which a writer knows its own snapshot. */
export type NewEtag = () => string;

export const randomEtag: NewEtag = () => randomBytes(16).toString('base64url');
