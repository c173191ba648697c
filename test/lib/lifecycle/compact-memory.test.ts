import { beforeEach, describe, expect, test } from 'vitest';
import {
  type AgentMemory,
  compactMemory,
  compactStaleSessions,
  createRuntime,
  DEFAULT_RETENTION,
  inMemoryStores,
  isStale,
  type RuntimeStores,
  type Summarize,
} from '../../../lib/index.ts';
import { type TestClock, testClock } from '../../support/test-clock.ts';

const daySecs = 86_400;
let clock: TestClock;
let stores: RuntimeStores;
let memory: AgentMemory;

beforeEach(() => {
  clock = testClock();
  stores = inMemoryStores({ clock: clock.now });
  memory = memoryOver(stores);
});

const runtimeOver = (over: RuntimeStores) =>
  createRuntime('support', {
    stores: over,
    clock: clock.now,
    policy: { ...DEFAULT_RETENTION, rawRetentionSecs: null, forgetAllowed: false },
  });
const memoryOver = (over: RuntimeStores) => runtimeOver(over).memory('s1', { id: 'ann' });
const say = async (from: number, to: number) => {
  await runtimeOver(stores).registerSession('s1');
  await memory.remember(
    Array.from({ length: to - from + 1 }, (_, index) => ({ id: `m${from + index}`, content: from + index })),
  );
};
const raw = async () => (await memory.recent({ limit: 1000 })).items.map(({ id }) => id);
const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `m${from + index}`);
const sum: Summarize = ({ messages, previous }) =>
  [previous?.summary, ...messages.map(({ content }) => content)]
    .filter((part) => part !== undefined)
    .join('+');

test('a window has 8 MiB of messages at the most, and always one', async () => {
  await say(1, 1);
  for (const [id, megabytes] of Object.entries({ large: 9, a: 3, b: 3, c: 3 }))
    await memory.remember([{ id, content: 'x'.repeat(megabytes * 1024 ** 2) }]);
  const windows: string[][] = [];
  const noteWindow: Summarize = ({ messages }) => {
    windows.push(messages.map(({ id }) => id));
    return 'summed up';
  };
  clock.advanceSecs(7 * daySecs);

  while ((await compactMemory(memory, noteWindow)).status === 'compacted');

  expect(windows).toEqual([['m1'], ['large'], ['a', 'b'], ['c']]);
});

test('a later capsule builds on the earlier one, and covers both windows', async () => {
  await say(1, 20);
  clock.advanceSecs(7 * daySecs);
  expect(await compactMemory(memory, sum)).toEqual({
    status: 'compacted',
    capsuleId: 'compaction-1',
    removed: 20,
  });
  await say(21, 40);
  expect(await compactMemory(memory, sum)).toEqual({ status: 'nothing_due' });
  clock.advanceSecs(7 * daySecs);

  const seen: unknown[] = [];
  await compactMemory(memory, (window) => {
    seen.push(
      window.previous?.summary,
      window.messages.map(({ id }) => id),
    );
    return sum(window);
  });

  expect(seen).toEqual([
    ids(1, 20)
      .map((id) => id.slice(1))
      .join('+'),
    ids(21, 40),
  ]);
  expect(await raw()).toEqual([]);
  expect(await memory.getCapsule('compaction-2')).toMatchObject({
    summary: ids(1, 40)
      .map((id) => id.slice(1))
      .join('+'),
    messageCount: 40,
    messageIds: ids(21, 40),
    previousId: 'compaction-1',
    from: '2027-01-01T00:00:00.250Z',
    to: '2027-01-08T00:00:00.250Z',
  });
});

const answer = (content: unknown) => ({
  role: 'assistant',
  id: 'msg_1',
  model: 'm',
  usage: { in: 5 },
  content,
});
const thought = { type: 'thinking', thinking: 'They said three things.', signature: 'c2ln' };
const cycle: unknown[] = [''];
cycle.push(cycle);

test.each([
  ['', ''],
  ['blanks', ' \n'],
  ['nothing', undefined],
  ['null', null],
  ['an empty list', []],
  ['an empty object', {}],
  ['false', false],
  ['NaN', Number.NaN],
  ['an empty map', new Map()],
  ['a map to nothing', new Map([['summary', '']])],
  ['an empty set', new Set()],
  ['no bytes', new Uint8Array()],
  ['a list of nothing', ['', [null, [{ text: ' ' }]]]],
  ['a cycle', cycle],
  ['zero-width characters', '\u200b\u200d\ufeff\u2060'],
  ['what is drawn as nothing', '\u3164\u2800\u00ad\u115f\ufe0f\u00a0\ufffc'],
  ["a model's message without text", answer('')],
  ["a model's message without content", answer(null)],
  ["a model's message of no parts", answer([])],
  ["a model's message of empty parts", answer([{ type: 'text', text: '\u200b' }])],
  ['thoughts only', answer([thought])],
  ['thoughts in the text', '<think>They said three things.</think>\n'],
  ['thoughts that do not end', answer('<think>They said')],
  ['thoughts beside no content', { ...answer(''), reasoning_content: 'They said three things.' }],
  ['a part that is a thought', { role: 'model', parts: [{ text: 'Three things.', thought: true }] }],
  ['a reasoning item', [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Three' }] }]],
  ['a call of a tool', answer([{ type: 'tool_use', id: 't', name: 'search', input: { q: 'things' } }])],
  ['choices without content', { object: 'chat.completion', choices: [{ index: 0, message: answer(null) }] }],
  ["an API's error", { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ["an API's error in one text", { error: "model 'small' not found" }],
  [
    'filtered choices',
    {
      object: 'chat.completion',
      choices: [{ index: 0, message: answer(''), content_filter_results: { hate: { severity: 'high' } } }],
      prompt_filter_results: [{ prompt_index: 0 }],
    },
  ],
  [
    'an incomplete response',
    {
      ...{ object: 'response', output: [], temperature: 1, tool_choice: 'auto', instructions: 'Summarise.' },
      incomplete_details: { reason: 'max_output_tokens' },
    },
  ],
  [
    'an answer of Bedrock without text',
    {
      $metadata: { httpStatusCode: 200, attempts: 1 },
      output: { message: { role: 'assistant', content: [] } },
      ...{ stopReason: 'max_tokens', usage: { inputTokens: 9 }, metrics: { latencyMs: 7 } },
    },
  ],
  ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } }],
  [
    'a blocked candidate',
    {
      candidates: [
        { finishReason: 'SAFETY', safetyRatings: [{ category: 'HARM', probability: 'HIGH' }], tokenCount: 9 },
      ],
      usageMetadata: { promptTokenCount: 9 },
    },
  ],
  [
    'an answer of Ollama without text',
    { model: 'm', message: { role: 'assistant', content: '' }, done: true, total_duration: 5, eval_count: 1 },
  ],
  [
    'a serialized message without text',
    { lc: 1, type: 'constructor', id: ['messages', 'AIMessage'], kwargs: { content: '', tool_calls: [] } },
  ],
])('a summary of %s removes nothing', async (_, summary) => {
  await say(1, 3);
  clock.advanceSecs(7 * daySecs);

  await expect(compactMemory(memory, () => summary)).rejects.toMatchObject({ code: 'empty_summary' });

  expect(await raw()).toEqual(ids(1, 3));
  expect((await memory.listCapsules()).items).toEqual([]);
});

test.each([
  ['text', 'three'],
  ['any script', '三'],
  ['an emoji', '👍'],
  ['a number', { facts: { count: 3 } }],
  ['true', { subscribed: true }],
  ['a date', [new Date(0)]],
  ['bytes', Uint8Array.of(0)],
  ['text after thoughts', answer('<think>hm</think>three')],
  ['text beside thoughts', answer([thought, { type: 'text', text: 'three' }])],
  ['a fact by name', { name: 'Ann' }],
  ['a fact beside an error', { topic: 'parcels', error: 'the label did not print' }],
  ['choices with text', { object: 'chat.completion', choices: [{ index: 0, message: answer('three') }] }],
  [
    'a response with text',
    { object: 'response', output: [answer([{ type: 'output_text', text: 'three' }])] },
  ],
  [
    'an answer of Bedrock',
    { $metadata: {}, output: { message: { role: 'assistant', content: [{ text: 'three' }] } } },
  ],
  [
    'a candidate',
    { candidates: [{ content: { parts: [{ text: 'three' }] }, safetyRatings: [] }], usageMetadata: {} },
  ],
  ['an answer of Ollama', { model: 'm', done: true, response: 'three' }],
  ['a serialized message', { lc: 1, id: ['AIMessage'], kwargs: { content: 'three' } }],
])('a summary of %s is one', async (_, summary) => {
  await say(1, 3);
  clock.advanceSecs(7 * daySecs);

  expect(await compactMemory(memory, () => summary)).toMatchObject({ status: 'compacted', removed: 3 });
});

test('a summary that fails, or comes after its time, removes nothing, and is in the error log', async () => {
  await say(1, 3);
  clock.advanceSecs(7 * daySecs);
  const runtime = runtimeOver(stores);
  let answer = (_: string) => {};
  const late = new Promise<string>((resolve) => {
    answer = resolve;
  });

  const [thrown] = await compactStaleSessions(runtime, (_session, context) =>
    compactMemory(context.memory(), () => Promise.reject(new Error('no model')), context),
  );
  const [timedOut] = await compactStaleSessions(
    runtime,
    (_session, context) => compactMemory(context.memory(), () => late, context),
    { timeoutSecs: 0.02 },
  );
  answer('too late');
  await new Promise((resolve) => setImmediate(resolve));

  expect([thrown?.error?.kind, timedOut?.error?.kind]).toEqual(['thrown', 'timed_out']);
  expect(await raw()).toEqual(ids(1, 3));
  expect((await memory.listCapsules()).items).toEqual([]);
  expect((await runtime.listErrors()).items).toHaveLength(2);
});

test('a message that comes while the summary is made stays raw, also one with an old timestamp', async () => {
  await say(1, 20);
  clock.advanceSecs(7 * daySecs);

  await compactMemory(memory, async (window) => {
    await memory.remember([
      { id: 'm21', content: 21 },
      { id: 'old', content: 0, timestamp: 0 },
    ]);
    return sum(window);
  });

  expect(await raw()).toEqual(['old', 'm21']);
  await compactMemory(memory, sum);
  expect(await memory.getCapsule('compaction-2')).toMatchObject({ messageIds: ['old'], messageCount: 21 });
});

test('a message that comes right before the messages are read is left to the next compaction, and summarised once', async () => {
  await say(1, 2);
  clock.advanceSecs(8 * daySecs);
  let isEarly = true;
  const list: RuntimeStores['memory']['list'] = async (scope, kind, query) => {
    const timestamp = new Date(clock.now().getTime() - 8 * daySecs * 1000);
    if (kind === 'message' && isEarly) {
      isEarly = false;
      await memory.remember({ id: 'late', content: 'late', timestamp });
    }
    return stores.memory.list(scope, kind, query);
  };
  const reading = memoryOver({ ...stores, memory: { ...stores.memory, list } });

  await compactMemory(reading, sum);
  const left = await raw();
  await compactMemory(memory, sum);

  expect(left).toEqual(['late']);
  const { items } = await memory.listCapsules();
  expect(items.map(({ messageIds }) => messageIds)).toEqual([ids(1, 2), ['late']]);
});

test('of two compactions at once one wins, and no message is covered twice or lost', async () => {
  await say(1, 20);
  clock.advanceSecs(7 * daySecs);
  const slow: Summarize = async (window) => {
    await new Promise((resolve) => setImmediate(resolve));
    return `${sum(window)} by ${Math.random()}`;
  };

  const outcomes = await Promise.all([compactMemory(memory, slow), compactMemory(memory, slow)]);

  expect(outcomes.map(({ status }) => status).sort()).toEqual(['compacted', 'overtaken']);
  const { items } = await memory.listCapsules();
  expect(items.flatMap(({ messageIds }) => messageIds)).toEqual(ids(1, 20));
  expect(await raw()).toEqual([]);
});

test('a crash between the capsule and the removal is finished by the next compaction, without covering twice', async () => {
  for (const survivors of [20, 1]) {
    stores = inMemoryStores({ clock: clock.now });
    memory = memoryOver(stores);
    await say(1, 20);
    clock.advanceSecs(7 * daySecs);
    let calls = 0;
    const removeCompacted: RuntimeStores['memory']['removeCompacted'] = (scope, named, moment) =>
      ++calls === (survivors === 1 ? 2 : 1)
        ? Promise.reject(new Error('killed'))
        : stores.memory.removeCompacted(scope, named, moment);
    const dying = memoryOver({ ...stores, memory: { ...stores.memory, removeCompacted } });
    await expect(compactMemory(dying, sum)).rejects.toThrow('killed');
    expect(await raw()).toHaveLength(survivors);
    await say(21, 22);
    clock.advanceSecs(7 * daySecs);

    await compactMemory(memory, sum);

    expect(await raw()).toEqual([]);
    const { items } = await memory.listCapsules();
    expect(items.flatMap(({ messageIds }) => messageIds)).toEqual(ids(1, 22));
  }
});

test('what was compacted and is sent again is the same message: known, and summarised once', async () => {
  await say(1, 3);
  const sent = clock.now().toISOString();
  clock.advanceSecs(7 * daySecs);
  await compactMemory(memory, sum);

  await say(2, 3);
  expect(await memory.remember({ id: 'm1', content: 1, metadata: { attempt: 2 } })).toMatchObject([
    { id: 'm1', content: 1, sender: { id: 'ann' }, timestamp: sent },
  ]);
  await say(3, 4);

  expect(await raw()).toEqual(['m4']);
  expect(await compactMemory(memory, sum)).toEqual({ status: 'nothing_due' });
  clock.advanceSecs(7 * daySecs);
  await compactMemory(memory, sum);
  expect(await memory.getCapsule('compaction-2')).toMatchObject({ summary: '1+2+3+4', messageCount: 4 });
});

test('another content under the id of a compacted message is refused, and nothing is lost', async () => {
  await say(1, 3);
  clock.advanceSecs(7 * daySecs);
  await compactMemory(memory, sum);

  const edited = [
    { id: 'm1', content: 'edited', timestamp: '2027-01-01T00:00:00.250Z' },
    { id: 'm4', content: 4 },
  ];

  await expect(memory.remember(edited)).rejects.toMatchObject({ code: 'id_conflict', ids: ['m1'] });
  expect(await raw()).toEqual(['m4']);
});

test('an id that a compaction had is free again a year later, or when the message would have expired', async () => {
  const policy = { ...DEFAULT_RETENTION, rawRetentionSecs: 30 * daySecs };
  const expiring = createRuntime('support', { stores, clock: clock.now, policy }).memory('s1', { id: 'ann' });
  await say(1, 3);
  await expiring.remember({ id: 'x', content: 'x' });
  clock.advanceSecs(7 * daySecs);
  await compactMemory(memory, sum);
  const isTaken = (id: string) =>
    memory.remember({ id, content: `another ${id}` }).then(
      () => false,
      () => true,
    );

  clock.advanceSecs(23 * daySecs - 1);
  expect(await isTaken('x')).toBe(true);
  clock.advanceSecs(1);
  expect(await isTaken('x')).toBe(false);
  clock.advanceSecs(342 * daySecs - 1);
  expect(await isTaken('m1')).toBe(true);
  clock.advanceSecs(1);
  expect(await isTaken('m1')).toBe(false);
});

test('a compaction in whose time something is forgotten stores nothing; where the session went, its job fails', async () => {
  const forgetful = createRuntime('support', { stores, clock: clock.now });
  await say(1, 3);
  clock.advanceSecs(7 * daySecs);
  const during = (forget: () => Promise<unknown>) =>
    compactMemory(forgetful.memory('s1'), async (window) => {
      await forget();
      return sum(window);
    });

  expect(await during(() => forgetful.memory('s1').forgetSessionWhere(({ id }) => id === 'm1'))).toEqual({
    status: 'overtaken',
  });
  expect(await raw()).toEqual(ids(2, 3));
  await expect(during(() => forgetful.deregisterSession('s1'))).rejects.toMatchObject({
    code: 'session_not_found',
  });
  expect(await raw()).toEqual(ids(2, 3));
  await forgetful.registerSession('s1');
  await expect(during(() => forgetful.forgetSession('s1'))).rejects.toMatchObject({
    code: 'session_not_found',
  });

  await forgetful.registerSession('s1');
  expect(await raw()).toEqual([]);
  expect((await memory.listCapsules()).items).toEqual([]);
});

test('takes no more than asked for, and hands on the options of the model call', async () => {
  await say(1, 10);
  const seen: unknown[] = [];

  const result = await compactMemory(
    memory,
    (window) => {
      seen.push(window.chat);
      return sum(window);
    },
    { until: clock.now(), maxMessages: 4, chat: { model: 'small' } },
  );

  expect(result).toMatchObject({ removed: 4 });
  expect(seen).toEqual([{ model: 'small' }]);
  expect(await raw()).toEqual(ids(5, 10));
});

describe('what is due', () => {
  test('a session is stale from exactly compactAfterSecs on', () => {
    const lastActiveAt = new Date('2027-01-01T00:00:00Z');
    const at = (secs: number) => new Date(lastActiveAt.getTime() + secs * 1000);

    expect(isStale({ lastActiveAt }, DEFAULT_RETENTION, at(7 * daySecs - 1))).toBe(false);
    expect(isStale({ lastActiveAt }, DEFAULT_RETENTION, at(7 * daySecs))).toBe(true);
    expect(isStale({ lastActiveAt }, { ...DEFAULT_RETENTION, compactAfterSecs: null }, at(1e9))).toBe(false);
  });

  test('nothing where the policy never compacts', async () => {
    await say(1, 3);
    clock.advanceSecs(1e8);
    const never = createRuntime('support', {
      stores,
      clock: clock.now,
      policy: { ...DEFAULT_RETENTION, compactAfterSecs: null },
    }).memory('s1');

    expect(await compactMemory(never, sum)).toEqual({ status: 'nothing_due' });
  });
});

test('no name that somebody gives a capsule stands in the way of the next compaction', async () => {
  await say(1, 2);
  const { items } = await memory.recent();
  for (const number of ['9007199254740991', '9007199254740993', '99999999999999999999', '1e3', '0'])
    await memory.storeCapsule({ ...memory.capsuleFromWindow(items, 'own'), id: `compaction-${number}` });

  for (const [from, to] of [
    [3, 4],
    [5, 6],
  ] as const) {
    await say(from, to);
    clock.advanceSecs(7 * daySecs);
    expect(await compactMemory(memory, sum)).toMatchObject({ status: 'compacted' });
  }
  expect(await raw()).toEqual([]);
});
