import { handler as capsules } from '../../functions/http/capsules.ts';
import { handler as deregisterSession } from '../../functions/http/deregister-session.ts';
import { handler as describeApi } from '../../functions/http/describe-api.ts';
import { handler as exportMemory } from '../../functions/http/export-memory.ts';
import { handler as fallback } from '../../functions/http/fallback.ts';
import { handler as forget } from '../../functions/http/forget.ts';
import { handler as forgetMessages } from '../../functions/http/forget-messages.ts';
import { handler as getRun } from '../../functions/http/get-run.ts';
import { handler as getSession } from '../../functions/http/get-session.ts';
import { handler as hibernate } from '../../functions/http/hibernate.ts';
import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { handler as listAgents } from '../../functions/http/list-agents.ts';
import { handler as listErrors } from '../../functions/http/list-errors.ts';
import { handler as listInstances } from '../../functions/http/list-instances.ts';
import { handler as listJobs } from '../../functions/http/list-jobs.ts';
import { handler as listRuns } from '../../functions/http/list-runs.ts';
import { handler as listSchedules } from '../../functions/http/list-schedules.ts';
import { handler as listSessions } from '../../functions/http/list-sessions.ts';
import { handler as recent } from '../../functions/http/recent.ts';
import { handler as registerSession } from '../../functions/http/register-session.ts';
import { handler as remember } from '../../functions/http/remember.ts';
import { handler as startRun } from '../../functions/http/start-run.ts';
import { handler as thaw } from '../../functions/http/thaw.ts';
import { handler as values } from '../../functions/http/values.ts';
import { matchPath, type Operation } from '../../lib/http/routes.ts';

const handlers: Readonly<Record<Operation, HttpHandler>> = {
  hibernate,
  thaw,
  forget,
  'list-instances': listInstances,
  'list-agents': listAgents,
  'describe-api': describeApi,
  'register-session': registerSession,
  'get-session': getSession,
  'deregister-session': deregisterSession,
  'list-sessions': listSessions,
  remember,
  recent,
  'forget-messages': forgetMessages,
  'list-capsules': capsules,
  compact: capsules,
  'export-memory': exportMemory,
  'list-user-data': values,
  'get-user-data': values,
  'set-user-data': values,
  'forget-user-data': values,
  'list-knowledge': values,
  'get-knowledge': values,
  learn: values,
  'forget-knowledge': values,
  'list-errors': listErrors,
  'start-run': startRun,
  'list-runs': listRuns,
  'get-run': getRun,
  'list-jobs': listJobs,
  'list-schedules': listSchedules,
};

export interface RouteMatch {
  /** As API Gateway writes it: `GET /v1/agents`, or `$default` for what no route takes. */
  readonly routeKey: string;
  readonly parameters: Readonly<Record<string, string>> | undefined;
  readonly handler: HttpHandler;
}

/** @param path decoded once */
export function matchRoute(method: string, path: string): RouteMatch {
  const { routes, parameters } = matchPath(path);
  const route = routes.find((candidate) => candidate.method === method);
  if (route === undefined) return { routeKey: '$default', parameters: undefined, handler: fallback };
  return {
    routeKey: `${route.method} ${route.path}`,
    parameters: Object.keys(parameters).length > 0 ? parameters : undefined,
    handler: handlers[route.operation],
  };
}
