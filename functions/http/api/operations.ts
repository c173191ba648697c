import {
  always,
  type Descriptions,
  described,
  type Json,
  jsonContent,
  listOf,
  object,
  ref,
  text,
} from '../description.ts';

const flag: Json = { type: 'boolean' };
const seconds: Json = { type: ['integer', 'null'] };
const policy = object(
  {
    ...{ name: text, rawRetentionSecs: seconds, capsuleRetentionSecs: seconds, compactAfterSecs: seconds },
    ...{ exportAllowed: flag, forgetAllowed: flag, metadata: { type: 'object' } },
  },
  ['name', 'rawRetentionSecs', 'capsuleRetentionSecs', 'compactAfterSecs', 'exportAllowed', 'forgetAllowed'],
);
const definition = object(
  {
    ...{ name: text, schema: flag, retention: policy },
    callbacks: object({ dump: flag, load: flag }, ['dump', 'load']),
    actions: { type: 'array', items: text },
    schedules: { type: 'array', items: { type: 'object' } },
  },
  ['name', 'schema', 'retention', 'callbacks', 'actions', 'schedules'],
);

export const apiSchemas = { AgentDefinition: definition };

/** The operations on the deployment itself. */
export const apiOperations = {
  'list-agents': {
    function: 'api',
    methods: ['GET'],
    path: '/v1/agents',
    tag: 'deployment',
    summary: 'List the agents that are defined, with their policies and actions',
    ...{ parameters: [], query: {} },
    responses: {
      200: described('The definitions', { content: jsonContent(listOf(ref('AgentDefinition'))) }),
    },
    errors: always,
  },
  'describe-api': {
    function: 'api',
    methods: ['GET'],
    path: '/v1/openapi.json',
    tag: 'deployment',
    summary: 'This document',
    ...{ parameters: [], query: {} },
    responses: { 200: described('OpenAPI 3.1', { content: jsonContent({ type: 'object' }) }) },
    errors: always,
  },
} satisfies Descriptions;
