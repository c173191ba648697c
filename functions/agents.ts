import { inspect } from 'node:util';
import {
  type ChatOptions,
  type CompactionWindow,
  compactMemory,
  DEFAULT_RETENTION,
  defineAgent,
  scheduleDescriptor,
} from 'dormouse';

/** What a model is told. */
const chat: ChatOptions = {
  system: 'Summarise this conversation for the agent that goes on with it.',
  maxTokens: 500,
};

/**
 * The agents of this deployment: the one file to edit. An agent that is not defined here can hibernate too; a definition
 * adds a schema, callbacks that see each state on its way in and out, a retention policy, actions and schedules.
 */
export default [
  defineAgent({
    name: 'support',
    // Messages go after 30 days, and are due for compaction after 7.
    retention: DEFAULT_RETENTION,
    // Each runs once per session, and its value is the job's result. `prune-raw-memory` is there without being written.
    actions: {
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
    },
    schedules: [
      scheduleDescriptor('nightly-compaction', '0 2 * * *', 'compact-stale-sessions'),
      scheduleDescriptor('hourly-pruning', '30 * * * *', 'prune-raw-memory'),
      scheduleDescriptor('daily-digest', '0 7 * * *', 'daily-digest', { timezone: 'Europe/Paris' }),
    ],
  }),
];

/** Stands for the messages of the window, and for the summary before, once they are gone. */
function summarize(window: CompactionWindow): string | Promise<string> {
  return withoutModel(window); // Your model: return askModel([...], { ...window.chat, signal: window.signal })
}

/** Who said what first and last: enough to go on with, and it costs nothing. */
function withoutModel({ messages, previous }: CompactionWindow): string {
  const line = ({ timestamp, sender, content }: CompactionWindow['messages'][number]) => {
    const text = typeof content === 'string' ? content : inspect(content);
    return `${timestamp} ${sender.id}: ${text.slice(0, 200)}`;
  };
  const [first, last] = [messages.at(0), messages.at(-1)];
  const kept = [first, last === first ? undefined : last].flatMap((message) =>
    message ? [line(message)] : [],
  );
  const before = typeof previous?.summary === 'string' ? [previous.summary.slice(-2000)] : [];
  return [...before, `${messages.length} messages:`, ...kept].join('\n');
}
