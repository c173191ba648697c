import { agentRuntime } from '../agent-runtime.ts';
import { pageAnswer } from '../fitting-page.ts';
import type { Handle } from '../http-handler.ts';
import { decodeCursor, pageLimit } from '../paging.ts';

/** `GET /v1/agents/{agent}/errors` */
export const listErrors: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const list = ['errors', runtime.agent];

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const { items, next } = await runtime.listErrors({ limit, after });
      return {
        items: services.showStacks !== false ? items : items.map(({ stack: _stack, ...entry }) => entry),
        next,
      };
    },
  );
};
