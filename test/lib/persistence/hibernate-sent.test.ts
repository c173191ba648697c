import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { memoryStore } from '../../../lib/in-memory/snapshot-store.ts';
import { encodeState, richContentType } from '../../../lib/persistence/codec.ts';
import { hibernateSent, type SentState } from '../../../lib/persistence/hibernate.ts';
import { unpackState } from '../../../lib/persistence/pack.ts';

const json = (text: string): SentState => ({
  ...{ format: 'json', contentType: 'application/json; charset=utf-8' },
  ...{ data: Buffer.from(text), value: JSON.parse(text) },
});
const rich = (value: unknown): SentState => ({ ...encodeState(value), value });
const opaque = (text: string): SentState => ({
  ...{ format: 'bytes', contentType: 'image/png', data: Buffer.from(text), value: undefined },
});

const store = memoryStore();
const stored = async () => {
  const snapshot = await store.get('support/user-1');
  if (snapshot === undefined) throw new Error('nothing is stored');
  const { format, contentType } = snapshot.dump;
  return { format, contentType, text: Buffer.from(await unpackState(snapshot.dump)).toString() };
};
const send = (sent: SentState, agent: Parameters<typeof hibernateSent>[1] = 'support') =>
  hibernateSent({ store }, agent, 'user-1', sent);

test.each([
  ['JSON', json('{ "a":  1 }')],
  ['a rich text', rich(new Map([[1, 2n]]))],
  ['opaque bytes', opaque('\u0000\u0001')],
])('%s is kept as it was sent, with its type', async (_what, sent) => {
  expect(await send(sent)).toMatchObject({ status: 'ok' });

  const { format, contentType, data } = sent;
  expect(await stored()).toEqual({ format, contentType, text: Buffer.from(data).toString() });
});

test('a state of nothing is refused; opaque bytes say nothing of what they are', async () => {
  const nothing: SentState = {
    format: 'rich',
    contentType: richContentType,
    data: Buffer.from('-1'),
    value: undefined,
  };

  expect(await send(nothing)).toMatchObject({ status: 'error', error: { code: 'invalid_state', path: '$' } });
  expect(await send(opaque(''))).toMatchObject({ status: 'ok' });
});

test('what does not fit the schema is refused, and what was stored stays', async () => {
  const agent = defineAgent({ name: 'support', state: z.object({ count: z.number() }) });
  await send(json('{"count":1}'), agent);

  expect(await send(json('{"count":"2"}'), agent)).toMatchObject({ error: { code: 'invalid_state' } });
  expect(await stored()).toMatchObject({ text: '{"count":1}' });
});

test('what `dump` makes of JSON is JSON again, also where it refers to an object twice; of a rich state it is as it is', async () => {
  const agent = defineAgent({ name: 'support', dump: (state) => [state, state] });

  await send(json('{"a":1}'), agent);
  expect(await stored()).toMatchObject({ format: 'json', text: '[{"a":1},{"a":1}]' });
  await send(rich({ a: 1, at: new Date(0) }), agent);
  expect(await stored()).toMatchObject({ format: 'rich' });
  await send({ ...rich({ a: 1 }), format: 'rich' }, agent);
  expect(await stored()).toMatchObject({ format: 'rich' });
});
