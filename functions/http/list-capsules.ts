import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { pageAnswer } from './fitting-page.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { decodeCursor, pageLimit } from './paging.ts';
import { shownCapsule } from './shown-memory.ts';

/** `GET /v1/agents/{agent}/sessions/{session}/capsules` */
const getCapsules: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { id } = await registeredSession(runtime, request);
  const list = ['capsules', runtime.agent, id];
  const memory = runtime.memory(id);

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const { items, next } = await memory.listCapsules({ limit, after });
      return { items: items.map(shownCapsule), next };
    },
  );
};

export const handler = httpHandler('list-capsules', getCapsules);
