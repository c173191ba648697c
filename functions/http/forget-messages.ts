import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { momentOf } from './query-timestamp.ts';
import { json } from './response.ts';

/** `DELETE /v1/agents/{agent}/sessions/{session}/messages` */
const deleteMessages: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { from, to, capsules = 'keep' } = request.query;
  if (from === undefined || to === undefined) {
    throw new HttpError(
      'invalid_request',
      'from and to are both needed: the first and the last moment, inclusive',
    );
  }
  if (capsules !== 'keep' && capsules !== 'forget')
    throw new HttpError('invalid_request', "capsules must be 'forget' or 'keep'");
  const range = { from: momentOf(from, 'from'), to: momentOf(to, 'to') };
  const { id } = await registeredSession(runtime, request);

  return json(200, await runtime.memory(id).forgetMessages(range, { capsules }));
};

export const handler = httpHandler('forget-messages', deleteMessages);
