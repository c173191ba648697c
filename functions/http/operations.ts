import { apiOperations } from './api/operations.ts';
import { conversationOperations } from './conversations/operations.ts';
import type { Method, OperationDescription } from './description.ts';
import { instanceOperations } from './instances/operations.ts';
import { runOperations } from './runs/operations.ts';

/** Every operation of the API. */
export const operations = {
  ...instanceOperations,
  ...apiOperations,
  ...conversationOperations,
  ...runOperations,
};
export type Operation = keyof typeof operations;

export interface Route {
  readonly operation: Operation;
  readonly method: Method;
  /** As API Gateway spells it. */
  readonly path: string;
}

/** What infra deploys, the local server matches and the document describes. */
export const routes: readonly Route[] = Object.entries<OperationDescription>(operations).flatMap(
  ([operation, { methods, path }]) =>
    methods.map((method) => ({ operation: operation as Operation, method, path })),
);

/** What a caller has to be allowed for it, where a deployment asks for scopes. */
export function permissionOf(operation: Operation, method: Method): 'read' | 'write' | 'run' {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return operation === 'start-run' ? 'run' : 'write';
}

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
