import { inspect } from 'node:util';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { type ActionHandler, type ChatOptions, type CompactionWindow, compactMemory } from 'dormouse';

/** What the model is told. */
const chat: ChatOptions = {
  system:
    'Summarise this conversation for the agent that goes on with it. Keep what is still worth knowing of the summary before it.',
  maxTokens: 1000,
};

/** Each runs once per session, and its value is the job's result. */
export default {
  'compact-stale-sessions': async (_session, { memory, signal }) => {
    // A capsule takes in up to 200 messages. Until nothing is due: a busy session is not to fall behind.
    for (let messages = 0; ; ) {
      const result = await compactMemory(memory(), summarize, { signal, chat });
      if (result.status !== 'compacted') return messages === 0 ? null : { messages };
      messages += result.removed;
    }
  },
  'daily-digest': async (_session, { memory }) => {
    const { items, next } = await memory().recent({ hours: 24, limit: 1000 });
    const senders = [...new Set(items.map(({ sender }) => sender.name ?? sender.id))];
    return items.length === 0 ? null : { messages: items.length, more: next !== undefined, senders };
  },
} satisfies Record<string, ActionHandler>;

/** Stands for the messages of the window, and for the summary before, once they are gone. */
function summarize(window: CompactionWindow): string | Promise<string> {
  // The first of the setting `worker.bedrockModels`.
  const [model] = (process.env.DORMOUSE_BEDROCK_MODELS ?? '').split(',');
  return model ? askModel(window.chat.model ?? model, window) : withoutModel(window);
}

let bedrock: BedrockRuntimeClient | undefined;

async function askModel(
  modelId: string,
  { messages, previous, chat, signal }: CompactionWindow,
): Promise<string> {
  bedrock ??= new BedrockRuntimeClient();
  const before = previous === undefined ? [] : [`The summary before: ${textOf(previous.summary)}`];
  // Longer ones are cut, and end with `…`: 200 messages have to fit in with the model.
  const text = [...before, ...messages.map((message) => cut(line(message), 2000))].join('\n');
  const request = new ConverseCommand({
    modelId,
    messages: [{ role: 'user', content: [{ text }] }],
    ...(chat.system !== undefined && { system: [{ text: chat.system }] }),
    inferenceConfig: { maxTokens: chat.maxTokens, temperature: chat.temperature },
  });
  const asked = bedrock.send(request, signal && { abortSignal: signal });
  const { output, stopReason } = await asked.catch((cause: Error) => {
    throw new Error(`no summary from ${modelId}: ${cause.name}: ${cause.message}`, { cause });
  });
  // One that was cut off, or filtered, would stand for messages that it says nothing of.
  if (stopReason !== 'end_turn')
    throw new Error(`no whole summary from ${modelId}: it ended by ${stopReason}`);
  return (output?.message?.content ?? []).map((part) => part.text ?? '').join('');
}

/** Who said what first and last: enough to go on with, and it costs nothing. */
function withoutModel({ messages, previous }: CompactionWindow): string {
  const [first, last] = [messages.at(0), messages.at(-1)];
  const kept = [first, last === first ? undefined : last].flatMap((message) =>
    message ? [cut(line(message), 250)] : [],
  );
  const before = typeof previous?.summary === 'string' ? [previous.summary.slice(-2000)] : [];
  return [...before, `${messages.length} messages:`, ...kept].join('\n');
}

function line({ timestamp, sender, content }: CompactionWindow['messages'][number]): string {
  return `${timestamp} ${sender.id}: ${textOf(content)}`;
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : inspect(content, { depth: 10 });
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
