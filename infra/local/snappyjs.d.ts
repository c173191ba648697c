/** It has no types of its own. */
declare module 'snappyjs' {
  export function uncompress(compressed: Buffer): Buffer;
}
