import { TooLargeError } from '../../../lib/errors.ts';
import { ExportCollector } from '../../../lib/memory/export-memory.ts';
import { jsonText } from '../../../lib/persistence/json-text.ts';
import { agentRuntime, registeredSession } from '../agent-runtime.ts';
import { fittingJson, travelBytes } from '../fitting-page.ts';
import type { Handle } from '../http-handler.ts';
import { bodyMaxBytes } from '../limits.ts';
import { type serializeCapsule, type serializeMessage, serializePart } from './serialize-memory.ts';

/** `GET /v1/agents/{agent}/sessions/{session}/export` */
export const getExport: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { id } = await registeredSession(runtime, request);

  const memory = runtime.memory(id);
  const exportedAt = runtime.now().toISOString();
  const collected = new ExportCollector<
    ReturnType<typeof serializeMessage>,
    ReturnType<typeof serializeCapsule>
  >();
  let bytes = 0;
  // Ends as soon as it is known not to fit: no more than an answer, and one page, is held.
  for await (const part of memory.exportParts()) {
    const shown = serializePart(part);
    bytes += travelBytes(jsonText(shown.value));
    if (bytes > bodyMaxBytes) throw new TooLargeError(undefined, bodyMaxBytes);
    collected.add(shown);
  }

  // A caller knows its agent by the name in the path, whatever space of its own it lives in.
  const { agent } = request.parameters;
  const head = { agent, session: id, exportedAt, policy: runtime.policy.name };
  const answer = fittingJson(200, { ...head, ...collected.memory() });
  if (answer === undefined) throw new TooLargeError(undefined, bodyMaxBytes);
  return answer;
};
