import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ExpressionParts } from '../expression.ts';
import type { ItemKey } from '../item.ts';
import { itemKey } from '../item.ts';
import type { Turn } from '../lanes.ts';
import { isConditionFailure } from '../translate-error.ts';
import { ttlAfter } from '../ttl.ts';
import { notApplied, nothingNamed } from './conditions.ts';
import { type Head, isEmptyHead } from './head.ts';
import { type HeadTable, readHead } from './table.ts';

/**
 * Before a caller is told that its write did not happen (or had nothing to do), no request of it may be under way that
 * could still be applied: where one may be, this takes its turn on the lane. Over nothing it leaves a tombstone.
 * Resolves false when the head is not the one that was read any more: the caller looks again.
 */
export async function fence(table: HeadTable, key: ItemKey, turn: Turn, head: Head): Promise<boolean> {
  if (!turn.uncertain) return true;
  const parts = new ExpressionParts();
  const notYet = notApplied(turn, parts.value(turn.mark));
  const taken = `SET ${turn.attribute} = ${parts.value(turn.fence)}`;
  const overNothing = isEmptyHead(head);
  const tombstone = () => {
    const marker = parts.value({ S: table.newEtag() });
    return `, gone = ${marker}, ${parts.name('ttl')} = ${parts.value({ N: String(ttlAfter(table.clock())) })}`;
  };
  try {
    await table.client.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: itemKey(key),
        UpdateExpression: overNothing ? taken + tombstone() : taken,
        ConditionExpression: `${notYet} AND ${overNothing ? nothingNamed(parts) : 'attribute_exists(pk)'}`,
        ...parts.attributes,
      }),
    );
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    // The answer to the fence itself may have been the one that was lost.
    return turn.isFenced((await readHead(table, key, 'info', turn.attribute)).lanes);
  }
}
