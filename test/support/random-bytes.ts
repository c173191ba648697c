import { createHash } from 'node:crypto';

/** Incompressible bytes that are the same in every run. */
export function randomBytesOf(length: number, seed: string): Buffer {
  const blocks: Buffer[] = [];
  for (let size = 0, index = 0; size < length; size += 64, index++) {
    blocks.push(createHash('sha512').update(`${seed}/${index}`).digest());
  }
  return Buffer.concat(blocks, Math.ceil(length / 64) * 64).subarray(0, length);
}

export function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
