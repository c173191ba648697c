import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { errorLookMs, errorShards, errorTrimInterval } from '../../../../lib/defaults.ts';
import { dynamoDbErrorLog } from '../../../../lib/dynamodb/sessions/error-log.ts';
import { sdkError } from '../../../support/failing-client.ts';

const at = new Date('2027-01-01T00:00:00.250Z');
const after = (ms: number) => new Date(at.getTime() + ms);

interface Query {
  readonly pk: string;
  readonly limit: number | undefined;
  readonly from: string | undefined;
}
interface Page {
  readonly Items?: Record<string, AttributeValue>[];
  readonly LastEvaluatedKey?: Record<string, AttributeValue>;
}

/** A log over a table that holds what `pageOf` says, and what it asked for and wrote: in every run under the same ids, which decide who trims. */
function logOver(pageOf: (query: Query) => Page = () => ({})) {
  const queries: Query[] = [];
  const written: string[] = [];
  const send = async (command: unknown) => {
    if (command instanceof PutItemCommand) written.push(command.input.Item?.sk?.S ?? '');
    if (!(command instanceof QueryCommand)) return {};
    const { ExpressionAttributeValues: values = {}, Limit, ExclusiveStartKey } = command.input;
    const query = { pk: values[':v0']?.S ?? '', limit: Limit, from: ExclusiveStartKey?.sk?.S };
    queries.push(query);
    return pageOf(query);
  };
  const client = { send } as unknown as DynamoDBClient;
  const errors = dynamoDbErrorLog({ client, tableName: 'T', newUnique: () => `u${written.length}` });
  const asked = (limit: number) => queries.filter((query) => query.limit === limit).length / errorShards;
  /** Resolves how often all partitions were looked at for the newest stamp. */
  const record = async (agent: string, time = at) => {
    const before = asked(1);
    await errors.record(agent, { where: 'w', msg: 'm' }, { at: time, maxErrors });
    return asked(1) - before;
  };
  return { errors, record, queries, written, trims: () => asked(maxErrors) };
}

const maxErrors = 10;
const item = (id: string) => ({ sk: { S: id }, v: { N: '1' } });
const idAt = (stamp: number) => `${String(stamp).padStart(15, '0')}.000000000.other`;

test('a writer looks at the clocks of others once in a minute, and when its own was set by as much', async () => {
  const { record } = logOver();
  const looks: number[] = [];
  for (const ms of [0, errorLookMs - 1, errorLookMs, 1, 0, -errorLookMs + 1, -errorLookMs])
    looks.push(await record('busy', after(ms)));

  expect(looks).toEqual([1, 0, 1, 0, 1, 0, 1]);
});

test.each([
  ['ahead goes on a millisecond after the newest stamp', 5_000, 5_001],
  ['behind goes by its own clock', -5_000, 0],
])('a writer that finds others %s', async (_what, stampMs, ownMs) => {
  const newest = idAt(at.getTime() + stampMs);
  const { record, written } = logOver(({ pk }) => (pk.endsWith('/3') ? { Items: [item(newest)] } : {}));

  await record('a');
  await record('a', after(7));

  const stamps = written.map((id) => Number(id.split('.')[0]) - at.getTime());
  expect(stamps).toEqual([ownMs, ownMs + 7]);
});

test('an error is recorded, by the own clock, where others cannot be looked at; the next one looks again', async () => {
  const { record, written } = logOver(() => {
    throw sdkError('ResourceNotFoundException');
  });

  const looked = [await record('a'), await record('a')];

  expect(looked.every((partitions) => partitions > 0)).toBe(true);
  expect(written.map((id) => Number(id.split('.')[0]))).toEqual([at.getTime(), at.getTime()]);
});

test('a process keeps what it has seen of a thousand agents, and of no more', async () => {
  const { record } = logOver();
  for (let agent = 0; agent < 1000; agent++) await record(`agent-${agent}`);
  expect([await record('agent-0'), await record('agent-999')]).toEqual([0, 0]);

  await record('one more');

  expect([await record('one more'), await record('agent-0')]).toEqual([0, 1]);
});

test('about one error in 32 looks for what has rolled out of the log', async () => {
  const { record, trims } = logOver();
  for (let index = 0; index < 20 * errorTrimInterval; index++) await record('a');

  expect(trims()).toBeGreaterThan(10);
  expect(trims()).toBeLessThan(40);
});

test('a partition is read on from page to page, for no more than is wanted', async () => {
  const ids = [9, 8, 7, 6, 5].map(idAt);
  const { errors, queries } = logOver(({ pk, from }) => {
    if (!pk.endsWith('/0')) return {};
    const start = from === undefined ? 0 : ids.indexOf(from) + 1;
    const page = ids.slice(start, start + 2);
    const last = { pk: { S: pk }, sk: { S: page.at(-1) ?? '' } };
    return { Items: page.map(item), ...(start + 2 < ids.length && { LastEvaluatedKey: last }) };
  });

  const listed = await errors.list({ agent: 'a', limit: 3, maxErrors: 10 });

  expect(listed.items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(listed.next).toBe(`3/${ids[2]}`);
  const first = queries.filter(({ pk }) => pk.endsWith('/0'));
  expect(first.map(({ limit, from }) => [limit, from])).toEqual([
    [4, undefined],
    [2, ids[1]],
  ]);
});

test('a page after the last error that the log keeps asks for nothing', async () => {
  const { errors, queries } = logOver(() => ({ Items: [item(idAt(1))] }));

  const page = await errors.list({ agent: 'a', limit: 3, maxErrors: 5, after: `5/${idAt(9)}` });

  expect(page).toEqual({ items: [], next: undefined });
  expect(queries).toEqual([]);
});
