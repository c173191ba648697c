import type { NewMessage } from '../../lib/memory/message.ts';
import { agentRuntime } from './agent-runtime.ts';
import { assertListable, fittingJson } from './fitting-page.ts';
import { HttpError } from './http-error.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { jsonBody, objectOf } from './json-body.ts';
import { shownMessage } from './shown-memory.ts';
import { sessionId } from './target.ts';

const fields = ['id', 'content', 'sender', 'timestamp', 'source', 'metadata'];
const senderFields = ['id', 'name'];

/** `POST /v1/agents/{agent}/sessions/{session}/messages` */
const postMessages: Handle = async (request, services) => {
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

  return fittingJson(201, { items: items.map(shownMessage) }) ?? { status: 201 };
};

export const handler = httpHandler('remember', postMessages);
