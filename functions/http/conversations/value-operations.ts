import {
  agent,
  type Descriptions,
  described,
  type Json,
  jsonContent,
  ofBodies,
  ofMemory,
  ofPages,
  ofSessions,
  page,
  paging,
  paths,
  segment,
  session,
} from '../description.ts';
import type { ErrorCode } from '../http-error.ts';
import { anything } from './schemas.ts';

interface Place {
  readonly path: string;
  readonly parameters: readonly Json[];
}

/** What can be done with values under keys: the same wherever they lie. */
function operationsOf(what: string, place: Place, errors: readonly ErrorCode[]) {
  const parameters = [...place.parameters, segment('key', 'The key')];
  const common = { function: 'conversations', tag: 'sessions', query: {} } as const;
  const path = `${place.path}/{key}`;
  return {
    list: {
      ...common,
      summary: `List ${what}, in the order of the keys`,
      ...{ methods: ['GET'], path: place.path, parameters: place.parameters, query: paging },
      responses: page('NamedValue'),
      errors: [...ofPages, ...errors],
    },
    get: {
      ...{ ...common, methods: ['GET'], path, summary: `Read one value of ${what}`, parameters },
      responses: { 200: described('The value', { content: jsonContent(anything) }) },
      errors: ['not_found', 'too_large', ...errors],
    },
    put: {
      ...{ ...common, methods: ['PUT'], path, summary: `Set one value of ${what}`, parameters },
      requestBody: described('The value: any JSON', { required: true, content: jsonContent(anything) }),
      responses: { 204: described('It is set') },
      errors: [...ofBodies, ...errors],
    },
    delete: {
      ...{ ...common, methods: ['DELETE'], path, summary: `Forget one value of ${what}`, parameters },
      responses: { 204: described('It is not there any more') },
      errors: ['forbidden_by_policy', ...errors],
    },
  } satisfies Descriptions;
}

const identity = segment('identity', 'The participant');
const userData = operationsOf(
  'a participant’s data in a session',
  { path: `${paths.session}/users/{identity}`, parameters: [agent, session, identity] },
  ofMemory,
);
const knowledge = operationsOf(
  'what an agent knows, in all of its sessions',
  { path: `${paths.agent}/knowledge`, parameters: [agent] },
  ofSessions,
);

/** The operations on user data and knowledge. */
export const valueOperations = {
  'list-user-data': userData.list,
  'get-user-data': userData.get,
  'set-user-data': userData.put,
  'forget-user-data': userData.delete,
  'list-knowledge': knowledge.list,
  'get-knowledge': knowledge.get,
  learn: knowledge.put,
  'forget-knowledge': knowledge.delete,
} satisfies Descriptions;
