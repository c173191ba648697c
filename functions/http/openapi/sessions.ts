import { keyMaxBytes } from '../../../lib/defaults.ts';
import type { Operation } from '../../../lib/http/routes.ts';
import type { ErrorCode } from '../http-error.ts';
import {
  agent,
  count,
  described,
  type Json,
  jsonContent,
  listOf,
  type OperationDescription,
  object,
  ofBodies,
  paging,
  parameter,
  stored,
  text,
  time,
} from './parts.ts';

const session = parameter(
  'session',
  'path',
  { type: 'string', minLength: 1 },
  `The session: 1 to ${keyMaxBytes} UTF-8 bytes, as an instance’s key but without slashes`,
  true,
);
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
const timestamp = 'ISO 8601 with an offset or Z, or epoch milliseconds';
const newMessage = object(
  {
    id: { type: 'string', description: 'Names the message: sent again under it, it is the same message' },
    ...{ content: anything, sender, source: anything, metadata: record },
    timestamp: { type: ['string', 'integer'], description: `${timestamp}; without it, now` },
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
const ofSessions: readonly ErrorCode[] = ['invalid_request', 'invalid_input', 'corrupt', ...stored];
const ofMemory: readonly ErrorCode[] = ['session_not_found', ...ofSessions];
const ofPages: readonly ErrorCode[] = ['invalid_cursor', 'too_large'];
const moment = (name: string, what: string, required = false) =>
  parameter(name, 'query', { type: 'string' }, `${what}, inclusive: ${timestamp}`, required);
const page = (item: Json) => ({ 200: described('A page', { content: jsonContent(listOf(item)) }) });

/** The operations on sessions, what is remembered of them, and the error log. */
export const sessionOperations = {
  'register-session': {
    summary: 'Register a session; again, to replace its meta',
    parameters: [agent, session],
    requestBody: described('What the caller wants to know of it', {
      content: jsonContent(object({ meta: record }, [])),
    }),
    responses: {
      200: described('It was registered already', { content: jsonContent(sessionShape) }),
      201: described('Registered', { content: jsonContent(sessionShape) }),
    },
    errors: [...ofBodies, ...ofSessions],
  },
  'get-session': {
    summary: 'Read a session',
    parameters: [agent, session],
    responses: { 200: described('The session', { content: jsonContent(sessionShape) }) },
    errors: ofMemory,
  },
  'deregister-session': {
    summary: 'Deregister a session',
    parameters: [
      ...[agent, session],
      parameter('memory', 'query', { enum: ['forget'] }, 'forget: also forget all that is remembered of it'),
    ],
    responses: { 204: described('It is not registered any more') },
    errors: ['forbidden_by_policy', ...ofSessions],
  },
  'list-sessions': {
    summary: 'List the sessions of an agent',
    parameters: [agent, ...paging],
    responses: page(sessionShape),
    errors: [...ofPages, ...ofSessions],
  },
  remember: {
    summary: 'Remember one message, or an array of up to 100',
    parameters: [agent, session],
    requestBody: described('The messages, in their order', {
      content: jsonContent({
        oneOf: [newMessage, { type: 'array', items: newMessage, minItems: 1, maxItems: 100 }],
      }),
    }),
    responses: {
      201: described('As they are stored', {
        content: jsonContent(object({ items: { type: 'array', items: message } }, ['items'])),
      }),
    },
    errors: ['id_conflict', ...ofBodies, ...ofMemory],
  },
  recent: {
    summary: 'Read messages, by timestamp, then by arrival',
    parameters: [
      ...[agent, session, moment('since', 'The first moment'), moment('until', 'The last moment')],
      parameter('hours', 'query', { type: 'number' }, 'Only those of the last so many hours'),
      parameter('order', 'query', { enum: ['asc', 'desc'], default: 'asc' }, 'Oldest or newest first'),
      ...paging,
    ],
    responses: page(message),
    errors: [...ofPages, ...ofMemory],
  },
  'forget-messages': {
    summary: 'Forget the messages from one moment to another',
    parameters: [
      agent,
      session,
      moment('from', 'The first moment', true),
      moment('to', 'The last moment', true),
    ],
    responses: {
      200: described('How many', { content: jsonContent(object({ deleted: count }, ['deleted'])) }),
    },
    errors: ['forbidden_by_policy', ...ofMemory],
  },
  'list-capsules': {
    summary: 'List the capsules of a session',
    parameters: [agent, session, ...paging],
    responses: page(capsule),
    errors: [...ofPages, ...ofMemory],
  },
  'export-memory': {
    summary: 'Export all that is remembered of a session as one document',
    parameters: [agent, session],
    responses: { 200: described('The memory', { content: jsonContent(record) }) },
    errors: ['forbidden_by_policy', 'too_large', ...ofMemory],
  },
  'list-errors': {
    summary: 'Read the error log, newest first',
    parameters: [agent, ...paging],
    responses: page(error),
    errors: [...ofPages, ...ofSessions],
  },
} as const satisfies Partial<Record<Operation, OperationDescription>>;
