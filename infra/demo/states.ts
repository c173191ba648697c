import { deflateSync } from 'node:zlib';

export interface DemoState {
  readonly key: string;
  readonly what: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const json = (key: string, what: string, state: unknown): DemoState => ({
  ...{ key, what, contentType: 'application/json', body: Buffer.from(JSON.stringify(state)) },
});

/** The same states in every run, of the kinds that agents keep. */
export function demoStates(): DemoState[] {
  return [
    json('support/user-123', 'a support conversation', supportConversation()),
    json('coder/issue-42', 'a coding agent, long tool output', codingAgent()),
    json('vision/photo-7', 'an agent that looked at an image', imageAgent()),
    json('polyglot/世界-🌍', 'a conversation in many scripts', manyScripts()),
    { key: 'vision/photo-7.png', what: 'the image itself', contentType: 'image/png', body: noiseImage(400) },
    {
      ...{
        key: 'exact/numbers',
        what: 'numbers that JavaScript would round',
        contentType: 'application/json',
      },
      body: Buffer.from('{ "a": 9007199254740993, "b": 1.00000000000000000000015, "c": 1e400, "d": -0 }\n'),
    },
  ];
}

function supportConversation(): unknown {
  return {
    customer: { id: 'user-123', plan: 'team', since: '2025-03-14' },
    mood: 'calm',
    messages: [
      {
        role: 'user',
        content: 'My parcel has not arrived. The tracking page has said "in transit" for six days.',
      },
      { role: 'assistant', content: 'I am sorry to hear that. May I have the order number?' },
      { role: 'user', content: 'It is 88-1042.' },
      {
        role: 'assistant',
        tool: 'orders.lookup',
        input: { order: '88-1042' },
        output: { status: 'in_transit', days: 6 },
      },
      {
        role: 'assistant',
        content: 'It is held at the depot. I have asked them to release it, and will look again tomorrow.',
      },
    ],
    next: { at: '2027-01-02T09:00:00Z', do: 'check the depot' },
  };
}

function codingAgent(): unknown {
  const steps = Array.from({ length: 60 }, (_, step) => ({
    thought: `Step ${step}: the failing test points at the parser, so look at how it handles case ${step * 31}.`,
    tool: step % 3 === 0 ? 'shell' : 'edit',
    output: Array.from(
      { length: 90 },
      (_line, line) => `src/parser/rule-${(step * line) % 97}.ts:${line}: ok (${step + line} ms)`,
    ).join('\n'),
  }));
  return {
    task: 'Make the parser accept nested lists',
    branch: 'fix/nested-lists',
    steps,
    budget: { tokens: 118_204 },
  };
}

function imageAgent(): unknown {
  const data = noiseImage(550).toString('base64');
  return {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', mediaType: 'image/png', data },
        ],
      },
    ],
  };
}

function manyScripts(): unknown {
  return {
    greetings: [
      'Good night',
      'Gute Nacht',
      'おやすみなさい',
      '晚安',
      '안녕히 주무세요',
      'शुभ रात्रि',
      'ليلة سعيدة',
      'לילה טוב',
      'Спокойной ночи',
      'Καληνύχτα',
      'ราตรีสวัสดิ์',
      'გამარჯობა',
    ],
    emoji: ['🐭', '👩‍💻', '🏳️‍🌈', '🧑🏽‍🚀'],
    tricky: ['\u2028', '\u0000', 'e\u0301', 'é', '\ud83d\ude34', '\u202eright to left'],
  };
}

/** A PNG of grey noise, which does not compress: what a screenshot or a photo is to a store. */
function noiseImage(size: number): Buffer {
  let seed = size;
  const noise = () => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return seed >>> 24;
  };
  const rows = Array.from({ length: size }, () => Buffer.from([0, ...Array.from({ length: size }, noise)]));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type), data]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}

function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
