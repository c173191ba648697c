/**
 * Whether a summary says nothing: no string in it has a visible character, and it holds no other value. What surrounds
 * the text in a model's message or answer (role, type, ids, usage, …) is no content, nor is an error in its place, what
 * the model only thought, or a tool that it asked for. Names of properties and keys of maps say nothing by themselves.
 * Iterative, so that no depth ends it.
 */
export function isEmptySummary(summary: unknown): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [summary];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) {
      if (saysSomething(value)) return false;
      continue;
    }
    if (seen.has(value)) continue;
    seen.add(value);
    const children = childrenOf(value);
    if (children === undefined) return false;
    for (const child of children) pending.push(child);
  }
  return true;
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return visible.test(value.replace(thoughts, ''));
  if (typeof value === 'number') return !Number.isNaN(value);
  return value !== undefined && value !== null && value !== false;
}

/**
 * A letter, digit, punctuation mark or symbol that is not drawn as nothing, as fillers and the empty Braille cell are, and
 * does not stand for what is not there, as the object replacement character does.
 */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800\ufffc])[\p{L}\p{N}\p{P}\p{S}\p{Co}]/u;

/** Some models write their thoughts into the text. */
const thoughts = /<(think|thinking)>[\s\S]*?(?:<\/\1>|$)/gi;

/** What may hold content; undefined for an object that is a value itself, such as a Date. */
function childrenOf(value: object): Iterable<unknown> | undefined {
  if (Array.isArray(value)) return Object.values(value);
  if (value instanceof Map) return value.values();
  if (value instanceof Set) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? [] : undefined;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return value.byteLength === 0 ? [] : undefined;
  if (value instanceof String || value instanceof Number || value instanceof Boolean)
    return [value.valueOf()];
  if (value instanceof RegExp || value instanceof URL || value instanceof URLSearchParams)
    return value.toString() === '' ? [] : undefined;
  if (isThought(value)) return [];
  const ofAnswer = answers.find(({ is }) => is(value));
  if (ofAnswer !== undefined) return ofAnswer.content.map((name) => Reflect.get(value, name));
  const ofMessage = 'role' in value;
  return Object.entries(value).flatMap(([name, child]) =>
    envelope.has(name) || (ofMessage && name === 'name') ? [] : [child],
  );
}

const has = (value: object, ...names: readonly string[]) => names.every((name) => name in value);

/** Whole answers of the APIs of models, of which all but the content is about the answer: settings, filters, times. */
const answers: readonly {
  readonly is: (value: object) => boolean;
  readonly content: readonly string[];
}[] = [
  { is: (value) => has(value, 'object', 'choices'), content: ['choices'] },
  { is: (value) => Reflect.get(value, 'object') === 'response', content: ['output', 'output_text'] },
  // Of Amazon Bedrock, by the AWS SDK.
  { is: (value) => has(value, '$metadata'), content: ['output'] },
  // Of Gemini: an answer, or that the prompt was blocked, and one of its candidates.
  { is: (value) => has(value, 'promptFeedback'), content: ['candidates'] },
  { is: (value) => has(value, 'candidates', 'usageMetadata'), content: ['candidates'] },
  { is: (value) => has(value, 'safetyRatings'), content: ['content'] },
  // Of Ollama.
  { is: (value) => has(value, 'model', 'done'), content: ['message', 'response'] },
  // A message of LangChain, serialized.
  { is: (value) => has(value, 'lc', 'kwargs'), content: ['kwargs'] },
];

function isThought(part: object): boolean {
  if ('thought' in part && part.thought === true) return true;
  return 'type' in part && typeof part.type === 'string' && noContent.test(part.type);
}

/** Kinds of parts, as the APIs of models and their SDKs call them: thoughts, and calls of tools. */
const noContent = /^(?:redacted[-_])?(?:thinking|thought|reasoning)|^(?:tool|function)[-_](?:call|use)/i;

const envelope: ReadonlySet<string> = new Set([
  ...['role', 'type', 'id', 'object', 'model', 'index', 'status', 'created', 'created_at', 'createdAt'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'stopReason', 'stop_sequence', 'stopSequence'],
  ...['usage', 'usage_metadata', 'usageMetadata', 'metadata', 'response_metadata', 'additional_kwargs'],
  ...['providerMetadata', 'provider_metadata', 'providerOptions', 'system_fingerprint', 'service_tier'],
  // What an API answers in place of an answer, and nobody looked at.
  ...['error', 'request_id', 'content_filter_results'],
  ...['timestamp', 'logprobs', 'annotations', 'refusal', 'cache_control', 'modelVersion', 'responseId'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'reasoningContent', 'reasoningText'],
  ...['thinking', 'thought', 'signature', 'thoughtSignature'],
  ...['tool_calls', 'toolCalls', 'function_call', 'functionCall', 'invalid_tool_calls', 'tool_call_id'],
]);
