import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, whatever folder `cdk` was started in. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url));
