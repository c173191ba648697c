import { compactionMaxMessages, rememberMaxMessages } from '../../../lib/defaults.ts';
import type { ErrorCode } from '../http-error.ts';
import { hoursMax } from '../limits.ts';
import {
  agent,
  closed,
  count,
  type Descriptions,
  described,
  type Json,
  jsonContent,
  listOf,
  name,
  object,
  ofBodies,
  paging,
  type QueryDescription,
  ref,
  segment,
  stored,
  text,
  time,
} from './parts.ts';

export const session = segment('session', 'The session');
const anything: Json = {};
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
const timestamp = 'ISO 8601 with an offset or Z, or epoch milliseconds, of the years 1 to 9999';
/** Numbers that look like epoch seconds are refused. */
const moment: Json = {
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
const error = object({ id: text, where: text, msg: text, ts: time, sessionId: text, runId: text }, [
  'id',
  'where',
  'msg',
  'ts',
]);
export const ofSessions: readonly ErrorCode[] = ['invalid_input', 'corrupt', ...stored];
export const ofMemory: readonly ErrorCode[] = ['session_not_found', ...ofSessions];
export const ofPages: readonly ErrorCode[] = ['invalid_cursor', 'too_large'];
const at = (what: string, required?: true): QueryDescription => ({
  description: `${what}, inclusive: ${timestamp}`,
  schema: moment,
  ...(required && { required }),
});
/** With `due`, also what the next capsule builds on, and when all of it was read. */
const messagePage = object(
  {
    ...(listOf(ref('Message')).properties as Json),
    ...{ previous: text, previousSummary: anything, moment: text },
  },
  ['items'],
);
const page = (item: string) => ({ 200: described('A page', { content: jsonContent(listOf(ref(item))) }) });

export const sessionSchemas = {
  ...{ Session: sessionShape, Message: message, NewMessage: newMessage, Capsule: capsule, ErrorEntry: error },
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

type SessionOperation =
  | 'register-session'
  | 'get-session'
  | 'deregister-session'
  | 'list-sessions'
  | 'remember'
  | 'recent'
  | 'forget-messages'
  | 'list-capsules'
  | 'compact'
  | 'export-memory'
  | 'list-errors';

/** The operations on sessions, what is remembered of them, and the error log. */
export const sessionOperations: Descriptions<SessionOperation> = {
  'register-session': {
    tag: 'sessions',
    summary: 'Register a session; again, to replace its meta',
    parameters: [agent, session],
    query: {},
    requestBody: described('What the caller wants to know of it', {
      content: jsonContent(ref('Registration')),
    }),
    responses: {
      200: described('It was registered already', { content: jsonContent(ref('Session')) }),
      201: described('Registered', { content: jsonContent(ref('Session')) }),
    },
    errors: [...ofBodies, ...ofSessions],
  },
  'get-session': {
    tag: 'sessions',
    summary: 'Read a session',
    parameters: [agent, session],
    query: {},
    responses: { 200: described('The session', { content: jsonContent(ref('Session')) }) },
    errors: ofMemory,
  },
  'deregister-session': {
    tag: 'sessions',
    summary: 'Deregister a session',
    parameters: [agent, session],
    query: {
      memory: {
        description: 'forget: also forget all that is remembered of it',
        schema: { type: 'string', enum: ['forget'] },
      },
    },
    responses: { 204: described('It is not registered any more') },
    errors: ['forbidden_by_policy', ...ofSessions],
  },
  'list-sessions': {
    tag: 'sessions',
    summary: 'List the sessions of an agent',
    parameters: [agent],
    query: paging,
    responses: page('Session'),
    errors: [...ofPages, ...ofSessions],
  },
  remember: {
    tag: 'sessions',
    summary: 'Remember one message, or an array of up to 100',
    parameters: [agent, session],
    query: {},
    requestBody: described('The messages, in their order', {
      required: true,
      content: jsonContent({
        oneOf: [
          ref('NewMessage'),
          { type: 'array', items: ref('NewMessage'), minItems: 1, maxItems: rememberMaxMessages },
        ],
      }),
    }),
    responses: {
      201: described('As they are stored', {
        content: jsonContent(object({ items: { type: 'array', items: ref('Message') } }, ['items'])),
      }),
    },
    errors: ['id_conflict', ...ofBodies, ...ofMemory],
  },
  recent: {
    tag: 'sessions',
    summary: 'Read messages, by timestamp, then by arrival',
    parameters: [agent, session],
    query: {
      ...{ since: at('The first moment'), until: at('The last moment') },
      hours: {
        description: 'Only those of the last so many hours; cannot be combined with since',
        schema: { type: 'number', exclusiveMinimum: 0, maximum: hoursMax },
      },
      order: {
        description: 'Oldest or newest first',
        schema: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
      },
      due: {
        description: 'compaction: what the next capsule would be made of; cannot be combined with the others',
        schema: { type: 'string', enum: ['compaction'] },
      },
      ...paging,
    },
    responses: { 200: described('A page', { content: jsonContent(messagePage) }) },
    errors: [...ofPages, ...ofMemory],
  },
  'forget-messages': {
    tag: 'sessions',
    summary: 'Forget the messages from one moment to another',
    parameters: [agent, session],
    query: {
      from: at('The first moment', true),
      to: at('The last moment', true),
      capsules: {
        description: 'forget: also forget the capsules that cover the range, and those that build on them',
        schema: { type: 'string', enum: ['keep', 'forget'], default: 'keep' },
      },
    },
    responses: {
      200: described('How many', {
        content: jsonContent(object({ deleted: count, capsules: count }, ['deleted', 'capsules'])),
      }),
    },
    errors: ['forbidden_by_policy', ...ofMemory],
  },
  'list-capsules': {
    tag: 'sessions',
    summary: 'List the capsules of a session',
    parameters: [agent, session],
    query: paging,
    responses: page('Capsule'),
    errors: [...ofPages, ...ofMemory],
  },
  compact: {
    tag: 'sessions',
    summary: 'Replace exactly these messages by one capsule; the same again is the same capsule',
    parameters: [agent, session],
    query: {},
    requestBody: described('What was summarised, and the summary', {
      required: true,
      content: jsonContent(ref('NewCapsule')),
    }),
    responses: { 201: described('The capsule', { content: jsonContent(ref('Capsule')) }) },
    errors: ['empty_summary', 'overtaken', ...ofBodies, ...ofMemory],
  },
  'export-memory': {
    tag: 'sessions',
    summary: 'Export all that is remembered of a session as one document',
    parameters: [agent, session],
    query: {},
    responses: { 200: described('The memory', { content: jsonContent(ref('Memory')) }) },
    errors: ['forbidden_by_policy', 'too_large', ...ofMemory],
  },
  'list-errors': {
    tag: 'sessions',
    summary: 'Read the error log, newest first',
    parameters: [agent],
    query: paging,
    responses: page('ErrorEntry'),
    errors: [...ofPages, ...ofSessions],
  },
};
