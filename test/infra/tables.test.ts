import { describe, expect, test } from 'vitest';
import { tables } from '../../lib/dynamodb/tables.ts';
import { resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const type = 'AWS::DynamoDB::GlobalTable';

describe('the tables', () => {
  const { template } = synthesizedStack();

  // A change to any of this makes CloudFormation replace the table: what it holds would be left behind.
  test('have the logical ids, keys and indexes that deployed stacks have', () => {
    const pinned = Object.entries(resourcesOf(template, type)).map(([logicalId, { Properties }]) => ({
      logicalId,
      keys: Properties.KeySchema.map((key: Record<string, string>) => `${key.KeyType} ${key.AttributeName}`),
      attributes: Properties.AttributeDefinitions.map(
        (attribute: Record<string, string>) => `${attribute.AttributeName} ${attribute.AttributeType}`,
      ),
      indexes: Properties.LocalSecondaryIndexes ?? [],
    }));

    expect(pinned).toEqual([
      {
        logicalId: 'SnapshotsTable',
        keys: ['HASH pk', 'RANGE sk'],
        attributes: ['pk S', 'sk S'],
        indexes: [],
      },
      {
        logicalId: 'SessionsTable',
        keys: ['HASH pk', 'RANGE sk'],
        attributes: ['pk S', 'sk S', 'place S'],
        indexes: [
          {
            IndexName: 'byPlace',
            KeySchema: [
              { AttributeName: 'pk', KeyType: 'HASH' },
              { AttributeName: 'place', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      },
      {
        logicalId: 'ErrorsTable',
        keys: ['HASH pk', 'RANGE sk'],
        attributes: ['pk S', 'sk S'],
        indexes: [],
      },
      {
        logicalId: 'RunsTable',
        keys: ['HASH pk', 'RANGE sk'],
        attributes: ['pk S', 'sk S', 'actionRun S'],
        indexes: [
          {
            IndexName: 'byAction',
            KeySchema: [
              { AttributeName: 'pk', KeyType: 'HASH' },
              { AttributeName: 'actionRun', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      },
    ]);
  });

  test.each(tables.map((table) => table.id))(
    '%s is kept, restorable, protected and billed on demand',
    (id) => {
      const table = resourcesOf(template, type)[`${id}Table`];

      expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
      expect(table?.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      });
    },
  );

  test.each(tables)('$id expires items by the attribute that the code writes', ({ id, ttl }) => {
    const table = resourcesOf(template, type)[`${id}Table`];

    expect(table?.Properties.TimeToLiveSpecification).toEqual({ AttributeName: ttl, Enabled: true });
    expect(ttl).toBe('ttl');
  });

  test.each(tables.map((table) => table.id))('%s goes with its stack only where retain is off', (id) => {
    const table = resourcesOf(synthesizedStack({ retain: false }).template, type)[`${id}Table`];

    expect(table).toMatchObject({ DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' });
    expect(table?.Properties.Replicas).toMatchObject([
      {
        DeletionProtectionEnabled: false,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    ]);
  });
});
