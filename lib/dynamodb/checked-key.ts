import { InvalidKeyError } from '../persistence/persistence-error.ts';

const partitionKeyMaxBytes = 2048;
const sortKeyMaxBytes = 1024;

/**
 * An item's key as the SDK takes it.
 *
 * @throws InvalidKeyError where names that are each within their limit make a key that DynamoDB does not take
 */
export function checkedKey(pk: string, sk: string): { pk: { S: string }; sk: { S: string } } {
  if (Buffer.byteLength(pk) > partitionKeyMaxBytes || Buffer.byteLength(sk) > sortKeyMaxBytes)
    throw new InvalidKeyError('the names make a key that is longer than DynamoDB keys may be');
  return { pk: { S: pk }, sk: { S: sk } };
}
