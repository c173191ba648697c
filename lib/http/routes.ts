/** The HTTP API's routes as API Gateway spells them: what infra deploys, the local server matches and the document describes. */
export interface Route {
  readonly operation: Operation;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
}

export type Operation =
  | 'hibernate'
  | 'thaw'
  | 'forget'
  | 'list-instances'
  | 'list-agents'
  | 'describe-api'
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
  | 'list-user-data'
  | 'get-user-data'
  | 'set-user-data'
  | 'forget-user-data'
  | 'list-knowledge'
  | 'get-knowledge'
  | 'learn'
  | 'forget-knowledge'
  | 'list-errors'
  | 'start-run'
  | 'list-runs'
  | 'get-run'
  | 'list-jobs'
  | 'list-schedules';

const agent = '/v1/agents/{agent}';
const instance = `${agent}/instances/{key+}`;
const session = `${agent}/sessions/{session}`;
const userData = `${session}/users/{identity}`;
const knowledge = `${agent}/knowledge`;
const run = `${agent}/runs/{run}`;

export const routes: readonly Route[] = [
  { operation: 'hibernate', method: 'PUT', path: instance },
  { operation: 'thaw', method: 'GET', path: instance },
  { operation: 'thaw', method: 'HEAD', path: instance },
  { operation: 'forget', method: 'DELETE', path: instance },
  { operation: 'list-instances', method: 'GET', path: `${agent}/instances` },
  { operation: 'list-agents', method: 'GET', path: '/v1/agents' },
  { operation: 'describe-api', method: 'GET', path: '/v1/openapi.json' },
  { operation: 'register-session', method: 'PUT', path: session },
  { operation: 'get-session', method: 'GET', path: session },
  { operation: 'deregister-session', method: 'DELETE', path: session },
  { operation: 'list-sessions', method: 'GET', path: `${agent}/sessions` },
  { operation: 'remember', method: 'POST', path: `${session}/messages` },
  { operation: 'recent', method: 'GET', path: `${session}/messages` },
  { operation: 'forget-messages', method: 'DELETE', path: `${session}/messages` },
  { operation: 'list-capsules', method: 'GET', path: `${session}/capsules` },
  { operation: 'compact', method: 'POST', path: `${session}/capsules` },
  { operation: 'export-memory', method: 'GET', path: `${session}/export` },
  { operation: 'list-user-data', method: 'GET', path: userData },
  { operation: 'get-user-data', method: 'GET', path: `${userData}/{key}` },
  { operation: 'set-user-data', method: 'PUT', path: `${userData}/{key}` },
  { operation: 'forget-user-data', method: 'DELETE', path: `${userData}/{key}` },
  { operation: 'list-knowledge', method: 'GET', path: knowledge },
  { operation: 'get-knowledge', method: 'GET', path: `${knowledge}/{key}` },
  { operation: 'learn', method: 'PUT', path: `${knowledge}/{key}` },
  { operation: 'forget-knowledge', method: 'DELETE', path: `${knowledge}/{key}` },
  { operation: 'list-errors', method: 'GET', path: `${agent}/errors` },
  { operation: 'start-run', method: 'POST', path: `${agent}/runs` },
  { operation: 'list-runs', method: 'GET', path: `${agent}/runs` },
  { operation: 'get-run', method: 'GET', path: run },
  { operation: 'list-jobs', method: 'GET', path: `${run}/jobs` },
  { operation: 'list-schedules', method: 'GET', path: '/v1/schedules' },
];

/**
 * The routes whose path fits, with what its placeholders took: `{name}` one segment, `{name+}` the rest, never nothing.
 *
 * @param path decoded once, as in an event of payload format 2.0
 */
export function matchPath(path: string): {
  readonly routes: readonly Route[];
  readonly parameters: Record<string, string>;
} {
  const matching: Route[] = [];
  let parameters: Record<string, string> = {};
  for (const route of routes) {
    const groups = patternOf(route.path).exec(path)?.groups;
    const isMatch = groups !== undefined || route.path === path;
    if (!isMatch) continue;
    matching.push(route);
    parameters = { ...groups };
  }
  return { routes: matching, parameters };
}

function patternOf(path: string): RegExp {
  const source = path
    .replace(/[.]/g, '\\.')
    .replace(/\{(\w+)\+\}/g, '(?<$1>.+)')
    .replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(`^${source}$`, 's');
}
