import { TooLargeError } from '../../lib/persistence/persistence-error.ts';
import { agentRuntime, registeredSession } from './agent-runtime.ts';
import { fittingJson } from './fitting-page.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { bodyMaxBytes } from './limits.ts';
import { shownExport } from './shown-memory.ts';

/** `GET /v1/agents/{agent}/sessions/{session}/export` */
const getExport: Handle = async (request, services) => {
  const runtime = agentRuntime(request, services);
  const { id } = await registeredSession(runtime, request);

  const exported = await runtime.memory(id).exportMemory();

  // A caller knows its agent by the name in the path, whatever space of its own it lives in.
  const answer = fittingJson(200, { ...shownExport(exported), agent: request.parameters.agent });
  if (answer === undefined) throw new TooLargeError(undefined, bodyMaxBytes);
  return answer;
};

export const handler = httpHandler('export-memory', getExport);
