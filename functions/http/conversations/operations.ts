import { rememberMaxMessages } from '../../../lib/defaults.ts';
import {
  agent,
  count,
  type Descriptions,
  described,
  jsonContent,
  object,
  ofBodies,
  ofMemory,
  ofPages,
  ofSessions,
  page,
  paging,
  paths,
  type QueryDescription,
  ref,
  session,
} from '../description.ts';
import { hoursMax } from '../limits.ts';
import { messagePage, moment, timestamp } from './schemas.ts';
import { valueOperations } from './value-operations.ts';

const at = (what: string, required?: true): QueryDescription => ({
  description: `${what}, inclusive: ${timestamp}`,
  schema: moment,
  ...(required && { required }),
});
/** The operations on sessions, and on what is remembered of them and of the agent. */
const messages = `${paths.session}/messages`;
const capsules = `${paths.session}/capsules`;

export const conversationOperations = {
  'register-session': {
    function: 'conversations',
    methods: ['PUT'],
    path: paths.session,
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
    function: 'conversations',
    methods: ['GET'],
    path: paths.session,
    tag: 'sessions',
    summary: 'Read a session',
    parameters: [agent, session],
    query: {},
    responses: { 200: described('The session', { content: jsonContent(ref('Session')) }) },
    errors: ofMemory,
  },
  'deregister-session': {
    function: 'conversations',
    methods: ['DELETE'],
    path: paths.session,
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
    function: 'conversations',
    methods: ['GET'],
    path: `${paths.agent}/sessions`,
    tag: 'sessions',
    summary: 'List the sessions of an agent',
    parameters: [agent],
    query: paging,
    responses: page('Session'),
    errors: [...ofPages, ...ofSessions],
  },
  remember: {
    function: 'conversations',
    methods: ['POST'],
    path: messages,
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
    function: 'conversations',
    methods: ['GET'],
    path: messages,
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
    function: 'conversations',
    methods: ['DELETE'],
    path: messages,
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
    function: 'conversations',
    methods: ['GET'],
    path: capsules,
    tag: 'sessions',
    summary: 'List the capsules of a session',
    parameters: [agent, session],
    query: paging,
    responses: page('Capsule'),
    errors: [...ofPages, ...ofMemory],
  },
  compact: {
    function: 'conversations',
    methods: ['POST'],
    path: capsules,
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
    function: 'conversations',
    methods: ['GET'],
    path: `${paths.session}/export`,
    tag: 'sessions',
    summary: 'Export all that is remembered of a session as one document',
    parameters: [agent, session],
    query: {},
    responses: { 200: described('The memory', { content: jsonContent(ref('Memory')) }) },
    errors: ['forbidden_by_policy', 'too_large', ...ofMemory],
  },
  ...valueOperations,
} satisfies Descriptions;
