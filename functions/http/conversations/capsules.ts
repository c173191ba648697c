import { compactWindow, type SummarizedWindow } from '../../../lib/lifecycle/compact-window.ts';
import { agentRuntime, registeredSession } from '../agent-runtime.ts';
import { assertListable, pageAnswer } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../http-handler.ts';
import { jsonBody, objectOf } from '../json-body.ts';
import { decodeCursor, pageLimit } from '../paging.ts';
import { json } from '../response.ts';
import { decodeMoment } from './moment.ts';
import { serializeCapsule } from './serialize-memory.ts';

/** `GET /v1/agents/{agent}/sessions/{session}/capsules` */
export const getCapsules: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { id } = await registeredSession(runtime, request);
  const list = ['capsules', runtime.agent, id];
  const memory = runtime.memory(id);

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const { items, next } = await memory.listCapsules({ limit, after });
      return { items: items.map(serializeCapsule), next };
    },
  );
};

const fields = ['messageIds', 'summary', 'previous', 'moment'];

/** `POST` of the same */
export const postCapsule: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const body = objectOf(await jsonBody(request), fields);
  const { messageIds, summary, moment } = body;
  // As capsules show it where there is none.
  const previous = body.previous ?? undefined;
  assertListable({ messageIds, summary });
  const { id } = await registeredSession(runtime, request);

  const result = await compactWindow(runtime.memory(id), {
    // Their types are the library's to check: it names the field.
    messageIds: messageIds as SummarizedWindow['messageIds'],
    summary,
    previousId: previous as SummarizedWindow['previousId'],
    moment: moment === undefined ? undefined : decodeMoment(runtime, id, moment),
  });
  if (result.status === 'overtaken')
    throw new HttpError('overtaken', `${result.reason}: read what is due again; nothing was changed`);

  return json(201, serializeCapsule(result.capsule));
};
