import { windowDue } from '../../../lib/lifecycle/compact-window.ts';
import type { AgentRuntime } from '../../../lib/runtime/agent-runtime.ts';
import { fittingItems } from '../fitting-page.ts';
import { HttpError } from '../http-error.ts';
import type { HttpRequest } from '../request.ts';
import { type HttpResponse, json } from '../response.ts';
import { encodeMoment } from './moment.ts';
import { conversationOperations } from './operations.ts';
import { serializeCapsule, serializeMessage } from './serialize-memory.ts';

/**
 * What the next capsule would be made of, and builds on: the window that `compactMemory` would take now, or as much of it
 * as fits into an answer.
 */
export async function dueForCompaction(
  { query }: HttpRequest,
  runtime: AgentRuntime,
  session: string,
): Promise<HttpResponse> {
  if (query.due !== 'compaction') throw new HttpError('invalid_request', "due must be 'compaction'");
  const other = Object.keys(conversationOperations.recent.query).find(
    (name) => name !== 'due' && query[name] !== undefined,
  );
  if (other !== undefined)
    throw new HttpError('invalid_request', `due cannot be combined with ${other}: send one of them`);

  const { messages, previous, moment } = await windowDue(runtime.memory(session));
  const head = {
    previous: previous?.id,
    previousSummary: previous && serializeCapsule(previous).summary,
    moment: encodeMoment(runtime, session, moment),
  };
  return json(200, { items: fittingItems(messages.map(serializeMessage), head), ...head });
}
