import type { ErrorCode } from '../http-error.ts';
import {
  agent,
  type Descriptions,
  described,
  type Json,
  jsonContent,
  listOf,
  object,
  ofBodies,
  paging,
  ref,
  segment,
  text,
} from './parts.ts';
import { ofMemory, ofPages, ofSessions, session } from './sessions.ts';

const anything: Json = {};

export const valueSchemas = { NamedValue: object({ key: text, value: anything }, ['key', 'value']) };

/** What can be done with values under keys: the same wherever they lie. */
function operationsOf(what: string, place: readonly Json[], errors: readonly ErrorCode[]) {
  const parameters = [...place, segment('key', 'The key')];
  const common = { tag: 'sessions', query: {} } as const;
  return {
    list: {
      ...common,
      summary: `List ${what}, in the order of the keys`,
      ...{ parameters: place, query: paging },
      responses: { 200: described('A page', { content: jsonContent(listOf(ref('NamedValue'))) }) },
      errors: [...ofPages, ...errors],
    },
    get: {
      ...{ ...common, summary: `Read one value of ${what}`, parameters },
      responses: { 200: described('The value', { content: jsonContent(anything) }) },
      errors: ['not_found', 'too_large', ...errors] as ErrorCode[],
    },
    put: {
      ...{ ...common, summary: `Set one value of ${what}`, parameters },
      requestBody: described('The value: any JSON', { required: true, content: jsonContent(anything) }),
      responses: { 204: described('It is set') },
      errors: [...ofBodies, ...errors],
    },
    delete: {
      ...{ ...common, summary: `Forget one value of ${what}`, parameters },
      responses: { 204: described('It is not there any more') },
      errors: ['forbidden_by_policy', ...errors] as ErrorCode[],
    },
  };
}

const identity = segment('identity', 'The participant');
const userData = operationsOf('a participant’s data in a session', [agent, session, identity], ofMemory);
const knowledge = operationsOf('what an agent knows, in all of its sessions', [agent], ofSessions);

type ValueOperation =
  | 'list-user-data'
  | 'get-user-data'
  | 'set-user-data'
  | 'forget-user-data'
  | 'list-knowledge'
  | 'get-knowledge'
  | 'learn'
  | 'forget-knowledge';

/** The operations on user data and knowledge. */
export const valueOperations: Descriptions<ValueOperation> = {
  'list-user-data': userData.list,
  'get-user-data': userData.get,
  'set-user-data': userData.put,
  'forget-user-data': userData.delete,
  'list-knowledge': knowledge.list,
  'get-knowledge': knowledge.get,
  learn: knowledge.put,
  'forget-knowledge': knowledge.delete,
};
