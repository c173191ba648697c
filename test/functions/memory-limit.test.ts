import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../functions/http/operations.ts';
import type { FunctionName } from '../../infra/service-functions.ts';
import { httpEvent } from '../support/http-event.ts';
import { type LambdaFunctions, lambdaFunctions } from '../support/lambda-functions.ts';

/** `all`: every body on every route that takes one, as `.ci/run` wants it; else those that told most. */
const isAll = process.env.DORMOUSE_BODIES === 'all';

const megabyte = 1024 * 1024;
const times = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');
const many = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`;
const deep = (levels: number, open = '[', close = ']') => `${open.repeat(levels)}${close.repeat(levels)}`;

interface Body {
  readonly content: string;
  readonly type?: string;
  readonly gzip?: boolean;
  /** Told most: tried every time. */
  readonly isTelling?: boolean;
}

const richType = 'application/vnd.dormouse.rich+json';
const bodies: Readonly<Record<string, () => Body>> = {
  'objects, 32 MiB of them': () => ({ content: many('{}', 11_000_000), gzip: true, isTelling: true }),
  'sixteen million brackets': () => ({ content: deep(16_000_000), gzip: true, isTelling: true }),
  'half a million objects': () => ({ content: many('{}', 249_999) }),
  'half a million objects of several properties': () => ({
    content: many('{"a":0,"b":1,"c":2}', 120_000),
    gzip: true,
  }),
  'half a million names': () => ({
    content: `{${times(480_000, (at) => `"n${at}":0`)}}`,
    gzip: true,
  }),
  'half a million names that are numbers': () => ({
    content: `{${times(480_000, (at) => `"${at * 4099}":0`)}}`,
    gzip: true,
  }),
  'half a million short strings': () => ({ content: `[${times(480_000, (at) => `"s${at}"`)}]`, gzip: true }),
  'a string of 32 MB': () => ({
    content: JSON.stringify('x'.repeat(31 * megabyte)),
    gzip: true,
  }),
  'a state that is one string': () => ({ content: `"${'x'.repeat(5_900_000)}"` }),
  'a string of escapes': () => ({ content: `{"text":"${'\\u00e9'.repeat(5 * megabyte)}"}`, gzip: true }),
  'a string of two-byte characters': () => ({
    content: `{"text":"${'\u00e9'.repeat(15 * megabyte)}"}`,
    gzip: true,
  }),
  'a number of five million digits': () => ({ content: `[${'9'.repeat(5_000_000)}]` }),
  'a small number of five million digits': () => ({ content: `[0.${'0'.repeat(5_000_000)}1]` }),
  'ten thousand levels': () => ({ content: deep(10_000, '{"a":[', ']}').slice(0, 70_000) }),
  'three thousand levels': () => ({ content: `{"list":${deep(2_990)}}` }),
  'brackets that are never closed': () => ({ content: '['.repeat(5_480_000) }),
  'a string that never ends': () => ({ content: `"${'x'.repeat(5_480_000)}` }),
  'negative zeros': () => ({ content: many('-0', 490_000) }),
  'numbers of one bucket, beside a negative zero': () => ({
    content: `[-0,${times(200_000, (at) => String(at * 2 ** 14))}]`,
  }),
  'a hundred thousand messages': () => ({ content: many('{"content":1,"sender":{"id":"a"}}', 100_000) }),
  'a hundred messages of 50 KB': () => ({
    content: many(JSON.stringify({ content: 'x'.repeat(50_000), sender: { id: 'a' } }), 100),
  }),
  '36 bytes of a long array': () => ({
    content: '[{"list":1},[-7,4294967295,5,2],"x"]',
    type: richType,
    isTelling: true,
  }),
  'a rich half million': () => ({
    content: `[[${times(240_000, (at) => String(at + 1))}],${times(240_000, () => '[]')}]`,
    type: richType,
    gzip: true,
    isTelling: true,
  }),
  'a rich half million of Maps': () => ({
    content: `[[${times(240_000, (at) => String(at + 1))}],${times(240_000, () => '["Map"]')}]`,
    type: richType,
    gzip: true,
  }),
  'a rich array of holes': () => ({
    content: '[{"list":1},[-7,999999,5,2],"x"]',
    type: richType,
    isTelling: true,
  }),
  'references that double': () => ({
    content: `[${times(60, (at) => `[${at + 1},${at + 1}]`)},"x"]`,
    type: richType,
  }),
  'a large buffer': () => ({
    content: `[{"list":1},["Uint8Array",2],["ArrayBuffer","${'A'.repeat(5_480_000)}"]]`,
    type: richType,
  }),
  'a hundred thousand views': () => ({
    content: `[[${times(100_000, (at) => String(at + 1))}],${times(100_000, () => '["Uint8Array",100001]')},["ArrayBuffer","${'A'.repeat(300)}"]]`,
    type: richType,
  }),
  'bytes that inflate to nothing but zeros': () => ({
    content: '\0'.repeat(64 * megabyte),
    gzip: true,
    type: 'application/octet-stream',
  }),
  'opaque bytes of 32 MB': () => ({
    content: '\0'.repeat(31 * megabyte),
    gzip: true,
    type: 'application/octet-stream',
  }),
};

const writers = ['hibernate', 'remember', 'register-session', 'start-run'] as const satisfies Operation[];
/** Who reads what the writers before them have stored. */
const readers = [
  'recent',
  'list-capsules',
  'export-memory',
  'list-sessions',
  'list-instances',
] as const satisfies Operation[];
const names: readonly FunctionName[] = [
  ...(['hibernate', 'thaw', 'conversations'] as const),
  ...(isAll ? (['instances', 'runs'] as const) : []),
];
const agents = ['planner', 'called-back', 'checked'];

describe('within the memory that Lambda gives a function', () => {
  let functions: LambdaFunctions;
  beforeAll(async () => {
    functions = await lambdaFunctions(names);
  }, 60_000);
  afterAll(() => functions.end());

  const call = async (operation: Operation, agent: string, body?: Body) => {
    const { content, type = 'application/json', gzip = false } = body ?? { content: undefined };
    const isText = !gzip && type === 'application/json';
    const bytes = content === undefined ? undefined : gzip ? gzipSync(content) : Buffer.from(content);
    const event = httpEvent({
      ...{ method: 'PUT', agent, key: 'k', base64: !isText && bytes !== undefined },
      headers: {
        'content-type': type,
        ...(gzip && { 'content-encoding': 'gzip' }),
        'accept-encoding': 'gzip',
      },
      ...(bytes && { body: isText ? (content ?? '') : bytes.toString('base64') }),
    });
    const pathParameters = { agent, key: 'k', session: 's' };
    return functions.call(operation, { ...event, pathParameters });
  };
  const ok = (name: Operation): Body => ({
    content:
      {
        hibernate: '{"mood":"calm"}',
        remember: '{"content":1,"sender":{"id":"ann"}}',
        'start-run': '{"action":"nope"}',
      }[name as string] ?? '{"meta":{}}',
  });

  const told = Object.entries(bodies).filter(([, body]) => isAll || body().isTelling);
  test.each(told)(
    'no body stops a function, or keeps the next request from its answer: %s',
    async (_, make) => {
      const body = make();
      if (isAll) await call('register-session', 'planner', ok('register-session'));
      const isTold = isAll && body.isTelling === true;
      const asked = isAll ? writers : (['hibernate', 'remember'] as const);
      for (const name of asked) {
        for (const agent of name === 'hibernate' ? (isTold ? agents : ['called-back']) : ['planner']) {
          const answered = await call(name, agent, body);
          const next = await call(name, 'planner', ok(name));

          expect.soft(answered.status, `${name}, ${agent}: ${answered.body}`).toBeGreaterThanOrEqual(200);
          expect.soft(answered.status, `${name}, ${agent}: ${answered.body}`).toBeLessThan(500);
          expect.soft(answered.ms, `${name}, ${agent}`).toBeLessThan(29_000);
          expect.soft(next.status, `${name} after: ${next.body}`).toBeLessThan(500);
          expect.soft(next.peakMB, name).toBeLessThan(1024);
          if (process.env.DORMOUSE_BODIES !== undefined)
            console.log(
              _,
              name,
              agent,
              answered.status,
              Math.round(answered.ms),
              Math.round(answered.peakMB),
            );
          if (name !== 'hibernate' || answered.status >= 300) continue;

          const thawed = await call('thaw', agent);
          expect.soft([200, 413], `thaw, ${agent}: ${thawed.body}`).toContain(thawed.status);
          expect.soft(thawed.ms, `thaw, ${agent}`).toBeLessThan(29_000);
          expect.soft(thawed.bytes, `thaw, ${agent}`).toBeLessThan(6 * megabyte);
          expect.soft(thawed.peakMB, 'thaw').toBeLessThan(1024);
          if (process.env.DORMOUSE_BODIES !== undefined)
            console.log(_, 'thaw', agent, thawed.status, Math.round(thawed.ms), Math.round(thawed.peakMB));
        }
      }
      for (const name of isAll ? readers : []) {
        const answered = await call(name, 'planner');
        expect.soft([200, 404, 413], `${name}: ${answered.body}`).toContain(answered.status);
        expect.soft(answered.ms, name).toBeLessThan(29_000);
        expect.soft(answered.peakMB, name).toBeLessThan(1024);
      }
    },
    120_000,
  );
});
