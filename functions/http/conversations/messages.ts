import type { RecentQuery } from '../../../lib/memory/agent-memory.ts';
import type { NewMessage } from '../../../lib/memory/message.ts';
import { agentRuntime, registeredSession } from '../agent-runtime.ts';
import { assertListable, fittingJson, pageAnswer } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { Handle } from '../http-handler.ts';
import { jsonBody, objectOf } from '../json-body.ts';
import { hoursMax } from '../limits.ts';
import { decodeCursor, pageLimit } from '../paging.ts';
import { momentOf } from '../query-timestamp.ts';
import type { HttpRequest } from '../request.ts';
import { json } from '../response.ts';
import { sessionId } from '../target.ts';
import { dueForCompaction } from './due-for-compaction.ts';
import { serializeMessage } from './serialize-memory.ts';

const fields = ['id', 'content', 'sender', 'timestamp', 'source', 'metadata'];
const senderFields = ['id', 'name'];

/** `POST /v1/agents/{agent}/sessions/{session}/messages` */
export const postMessages: Handle = async (request, services) => {
  const memory = agentRuntime(request, services).memory(sessionId(request));
  const body = await jsonBody(request);
  const messages = (Array.isArray(body) ? body : [body]).map((message) => objectOf(message, fields));
  if (messages.length === 0) throw new HttpError('invalid_request', 'the array holds no message');

  for (const message of messages) {
    const { sender } = message;
    if (typeof sender === 'object' && sender !== null && !Array.isArray(sender))
      objectOf(sender, senderFields);
    assertListable(message);
  }

  // Their types are the library's to check: it names the field of the message.
  const items = await memory.remember(messages as unknown as NewMessage[]);

  return fittingJson(201, { items: items.map(serializeMessage) }) ?? { status: 201 };
};

/** `GET /v1/agents/{agent}/sessions/{session}/messages`; with `?due=compaction`, what the next capsule would be made of */
export const getMessages: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { id } = await registeredSession(runtime, request);
  if (request.query.due !== undefined) return dueForCompaction(request, runtime, id);
  const query = recentQuery(request);
  const { since = '', until = '', hours = '', order = '' } = request.query;
  const list = ['messages', runtime.agent, id, since, until, hours, order];
  const memory = runtime.memory(id);

  return pageAnswer(
    { list, limit: pageLimit(request), after: decodeCursor(list, request) },
    async (limit, after) => {
      const { items, next } = await memory.recent({ ...query, limit, after });
      return { items: items.map(serializeMessage), next };
    },
  );
};

function recentQuery({ query }: HttpRequest): RecentQuery {
  const { since, until, hours, order } = query;
  if (order !== undefined && order !== 'asc' && order !== 'desc') {
    throw new HttpError('invalid_request', "order must be 'asc' or 'desc'");
  }
  if (hours !== undefined && !(/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(hours) && isInRange(Number(hours)))) {
    throw new HttpError('invalid_request', `hours must be a number above 0, up to ${hoursMax}`);
  }
  return {
    since: since === undefined ? undefined : momentOf(since, 'since'),
    until: until === undefined ? undefined : momentOf(until, 'until'),
    hours: hours === undefined ? undefined : Number(hours),
    order,
  };
}

function isInRange(hours: number): boolean {
  return hours > 0 && hours <= hoursMax;
}

/** `DELETE /v1/agents/{agent}/sessions/{session}/messages` */
export const deleteMessages: Handle = async (request, services) => {
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
