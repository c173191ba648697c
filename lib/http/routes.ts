/** The HTTP API's routes as API Gateway spells them: what infra deploys, the local server matches and the document describes. */
export interface Route {
  readonly operation: Operation;
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
}

export type Operation = 'hibernate' | 'thaw' | 'forget' | 'list-instances' | 'list-agents' | 'describe-api';

const instance = '/v1/agents/{agent}/instances/{key+}';

export const routes: readonly Route[] = [
  { operation: 'hibernate', method: 'PUT', path: instance },
  { operation: 'thaw', method: 'GET', path: instance },
  { operation: 'thaw', method: 'HEAD', path: instance },
  { operation: 'forget', method: 'DELETE', path: instance },
  { operation: 'list-instances', method: 'GET', path: '/v1/agents/{agent}/instances' },
  { operation: 'list-agents', method: 'GET', path: '/v1/agents' },
  { operation: 'describe-api', method: 'GET', path: '/v1/openapi.json' },
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
