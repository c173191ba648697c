import { compactionMaxMessages } from '../../../lib/defaults.ts';
import { closed, count, type Json, listOf, name, object, ref, text, time } from '../description.ts';

export const anything: Json = {};
const record: Json = { type: 'object' };
const sessionShape = object({ id: text, meta: record, registeredAt: time, lastActiveAt: time }, [
  'id',
  'meta',
  'registeredAt',
  'lastActiveAt',
]);
const sender = object({ id: text, name: text }, ['id']);
const message = object(
  { id: text, content: anything, sender, timestamp: time, source: anything, metadata: record },
  ['id', 'content', 'sender', 'timestamp', 'source', 'metadata'],
);
export const timestamp = 'ISO 8601 with an offset or Z, or epoch milliseconds, of the years 1 to 9999';
/** Numbers that look like epoch seconds are refused. */
export const moment: Json = {
  anyOf: [
    { type: 'integer', minimum: -62_135_596_800_000, maximum: 99_999_999 },
    { type: 'integer', minimum: 100_000_000_000, maximum: 253_402_300_799_999 },
    { type: 'string', format: 'date-time' },
  ],
};
const newMessage = closed(
  {
    id: { ...name, description: 'Names the message: sent again under it, it is the same message' },
    content: { description: 'Any JSON value' },
    sender: closed({ id: name, name: text }, ['id']),
    source: { description: 'Where it came from: an id, or an object with one' },
    metadata: record,
    timestamp: { ...moment, description: `${timestamp}; without it, now` },
  },
  ['content', 'sender'],
);
const capsule = object(
  {
    ...{ id: text, summary: anything, from: time, to: time, messageCount: count, createdAt: time },
    ...{ messageIds: { type: 'array', items: text }, sourceIds: { type: 'array', items: text } },
    ...{ previousId: { type: ['string', 'null'] }, metadata: record },
  },
  ['id', 'summary', 'from', 'to', 'messageCount', 'messageIds', 'sourceIds', 'previousId', 'createdAt'],
);
/** With `due`, also what the next capsule builds on, and when all of it was read. */
export const messagePage = object(
  {
    ...(listOf(ref('Message')).properties as Json),
    ...{ previous: text, previousSummary: anything, moment: text },
  },
  ['items'],
);
export const conversationSchemas = {
  NamedValue: object({ key: text, value: anything }, ['key', 'value']),
  ...{ Session: sessionShape, Message: message, NewMessage: newMessage, Capsule: capsule },
  NewCapsule: closed(
    {
      messageIds: {
        ...{ type: 'array', items: name, minItems: 1, maxItems: compactionMaxMessages, uniqueItems: true },
        description: 'The messages that were summarised: exactly these are removed',
      },
      summary: { description: 'Any JSON value that says something' },
      previous: {
        ...name,
        type: ['string', 'null'],
        description: 'The id of the capsule that the summary builds on, where there is one',
      },
      moment: { ...text, description: 'As it came with the messages that were due' },
    },
    ['messageIds', 'summary'],
  ),
  Registration: closed({ meta: { ...record, description: 'What the caller wants to know of it' } }, []),
  Memory: object(
    {
      ...{ agent: text, session: text, policy: text, exportedAt: time },
      messages: { type: 'array', items: ref('Message') },
      capsules: { type: 'array', items: ref('Capsule') },
      ...{ users: record, knowledge: record },
    },
    ['agent', 'session', 'policy', 'exportedAt', 'messages', 'capsules', 'users', 'knowledge'],
  ),
};
