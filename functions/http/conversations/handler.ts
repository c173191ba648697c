import { apiHandler } from '../http-handler.ts';
import { getCapsules, postCapsule } from './capsules.ts';
import { getExport } from './export-memory.ts';
import { deleteMessages, getMessages, postMessages } from './messages.ts';
import { conversationOperations } from './operations.ts';
import { deleteSession, getSession, listSessions, putSession } from './sessions.ts';
import { knowledge, userData } from './values.ts';

export const handler = apiHandler('conversations', conversationOperations, {
  'register-session': putSession,
  'get-session': getSession,
  'deregister-session': deleteSession,
  'list-sessions': listSessions,
  remember: postMessages,
  recent: getMessages,
  'forget-messages': deleteMessages,
  'list-capsules': getCapsules,
  compact: postCapsule,
  'export-memory': getExport,
  'list-user-data': userData.list,
  'get-user-data': userData.get,
  'set-user-data': userData.put,
  'forget-user-data': userData.delete,
  'list-knowledge': knowledge.list,
  'get-knowledge': knowledge.get,
  learn: knowledge.put,
  'forget-knowledge': knowledge.delete,
});
