import type { Operation } from './routes.ts';

const paging = ['limit', 'cursor'] as const;

/** The query parameters of each route: the server takes no others, and the OpenAPI document describes each of them. */
export const queryParameters = {
  hibernate: ['ttl'],
  thaw: [],
  forget: [],
  'list-instances': ['prefix', ...paging],
  'list-agents': [],
  'describe-api': [],
  'register-session': [],
  'get-session': [],
  'deregister-session': ['memory'],
  'list-sessions': paging,
  remember: [],
  recent: ['since', 'until', 'hours', 'order', 'due', ...paging],
  'forget-messages': ['from', 'to', 'capsules'],
  'list-capsules': paging,
  compact: [],
  'export-memory': [],
  'list-user-data': paging,
  'get-user-data': [],
  'set-user-data': [],
  'forget-user-data': [],
  'list-knowledge': paging,
  'get-knowledge': [],
  learn: [],
  'forget-knowledge': [],
  'list-errors': paging,
  'start-run': [],
  'list-runs': ['action', ...paging],
  'get-run': [],
  'list-jobs': ['ok', ...paging],
  'list-schedules': [],
} as const satisfies Readonly<Record<Operation, readonly string[]>>;
