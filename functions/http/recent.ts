import type { RecentQuery } from '../../lib/memory/agent-memory.ts';
import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { dueForCompaction } from './due-for-compaction.ts';
import { pageAnswer } from './fitting-page.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { hoursMax } from './limits.ts';
import { decodeCursor, pageLimit } from './paging.ts';
import { momentOf } from './query-timestamp.ts';
import type { HttpRequest } from './request.ts';
import { shownMessage } from './shown-memory.ts';

/** `GET /v1/agents/{agent}/sessions/{session}/messages`; with `?due=compaction`, what the next capsule would be made of */
const getMessages: Handle = async (request, services) => {
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
      return { items: items.map(shownMessage), next };
    },
  );
};

export const handler = httpHandler('recent', getMessages);

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
