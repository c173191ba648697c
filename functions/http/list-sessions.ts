import { agentRuntime } from './agent-runtime.ts';
import { pageAnswer } from './fitting-page.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, pageLimit } from './paging.ts';

/** `GET /v1/agents/{agent}/sessions` */
const listSessions: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const list = ['sessions', runtime.agent];

  return pageAnswer({ list, limit: pageLimit(request), after: decodeCursor(list, request) }, (limit, after) =>
    runtime.listSessionPage({ limit, after }),
  );
};

export const handler = httpHandler('list-sessions', listSessions);
