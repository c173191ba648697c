import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { momentOf } from './query-timestamp.ts';
import { json } from './response.ts';

/** `DELETE /v1/agents/{agent}/sessions/{session}/messages` */
const deleteMessages: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { from, to } = request.query;
  if (from === undefined || to === undefined) {
    throw new HttpError(
      'invalid_request',
      'from and to are both needed: the first and the last moment, inclusive',
    );
  }
  const range = { from: momentOf(from, 'from'), to: momentOf(to, 'to') };
  const { id } = await registeredSession(runtime, request);

  const deleted = await runtime.memory(id).forgetSessionRange(range.from, range.to);

  return json(200, { deleted });
};

export const handler = httpHandler('forget-messages', deleteMessages);
