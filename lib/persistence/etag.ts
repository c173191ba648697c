import { randomUUID } from 'node:crypto';

/** A new ETag, never given before: a random UUID. Also the write id by which a writer knows its own snapshot. */
export type NewEtag = () => string;

export const randomEtag: NewEtag = () => randomUUID();
