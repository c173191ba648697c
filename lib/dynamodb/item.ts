import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { partitionKeyMaxBytes, sortKeyMaxBytes } from '../defaults.ts';
import { InvalidKeyError } from '../errors.ts';

export type Item = Record<string, AttributeValue>;

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

export function itemKey({ pk, sk }: ItemKey) {
  return { pk: { S: pk }, sk: { S: sk } };
}

/**
 * An item's key as the SDK takes it.
 *
 * @throws InvalidKeyError where names that are each within their limit make a key that DynamoDB does not take
 */
export function checkedKey(pk: string, sk: string): { pk: { S: string }; sk: { S: string } } {
  assertKeyFits(pk, sk);
  return { pk: { S: pk }, sk: { S: sk } };
}

/** @throws InvalidKeyError saying which limit, and by how much */
export function assertKeyFits(pk: string, sk: string): void {
  const parts = [
    { bytes: Buffer.byteLength(pk), limit: partitionKeyMaxBytes },
    { bytes: Buffer.byteLength(sk), limit: sortKeyMaxBytes },
  ];
  const tooLong = parts.find(({ bytes, limit }) => bytes > limit);
  if (tooLong !== undefined)
    throw new InvalidKeyError(
      `the names make a key of ${tooLong.bytes} bytes, the limit is ${tooLong.limit} (%, / and ~ are escaped, and take three or more)`,
    );
}
