/** A request that is sent to a server under load. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Its caller goes away before the answer. */
  readonly isGivenUp?: boolean;
}

/** Names that the calls are spread over: what is stored does not grow any more, once each was written. */
const instances = 20;
const sessions = 10;
/** Messages come in these calls and in no others: each is known as the same one when it is sent again. */
const batches = 10;

/** Of an agent with callbacks, and of one that takes bytes. */
const agent = '/v1/agents/loaded';
const imageOf = (number: number) => `/v1/agents/opaque/instances/image-${number}`;
const instanceOf = (number: number) => `${agent}/instances/user-${number}`;
const sessionOf = (number: number) => `${agent}/sessions/chat-${number}`;

/** Of two sessions by name, one of which fails: what it leaves for 90 days is little. */
const aRun = { action: 'visit', sessions: ['chat-2', 'chat-3'] };

/** Writes everything that `someCall` writes, where it is largest. */
export function everyWrite(random: () => number): readonly Call[] {
  return [
    ...upTo(instances, (number) => put(instanceOf(number), state(random, 200))),
    ...upTo(instances, (number) => putBytes(imageOf(number), random, 60_000)),
    ...upTo(sessions, (number) => put(sessionOf(number), { meta: { channel: 'web' } })),
    ...upTo(sessions * batches, (number) => remember(number % sessions, Math.floor(number / sessions))),
  ];
}

/**
 * A call of any kind that the HTTP API has, wrong ones included.
 *
 * @param etagOf that of the last answer under a path
 * @param mayRun whether another run may be started now
 */
export function someCall(
  random: () => number,
  etagOf: (path: string) => string | undefined,
  mayRun: () => boolean,
): Call {
  const below = (end: number) => Math.floor(random() * end);
  const instance = instanceOf(below(instances));
  const image = imageOf(below(instances));
  const number = below(sessions);
  const session = sessionOf(number);
  const etag = etagOf(instance) ?? '"none"';

  const kinds: readonly (readonly [weight: number, call: () => Call])[] = [
    [20, () => put(instance, state(random, below(200)))],
    [4, () => put(instance, state(random, 1), { 'if-match': etag })],
    [1, () => ({ ...put(instance, state(random, 2)), isGivenUp: true })],
    [1, () => ({ ...put(instance, {}), body: '{"mood":' })],
    [2, () => putBytes(image, random, 4_000)],
    // Above what lies in the head item: a row of its own.
    [2, () => putBytes(image, random, 60_000)],
    [20, () => get(instance)],
    [4, () => get(instance, { 'if-none-match': etag })],
    [4, () => get(image, { 'accept-encoding': 'gzip' })],
    [5, () => remove(instance)],
    [2, () => remove(image)],
    [3, () => get(`${agent}/instances?limit=20`)],
    [6, () => put(session, { meta: { channel: 'web' } })],
    [3, () => get(`${agent}/sessions`)],
    [10, () => remember(number, below(batches))],
    [10, () => get(`${session}/messages?order=desc&limit=20`)],
    [2, () => remove(`${session}/messages?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z`)],
    [1, () => remove(`${session}?memory=forget`)],
    [1, () => get(`${session}/export`)],
    [1, () => get(`${session}/capsules`)],
    [2, () => (mayRun() ? post(`${agent}/runs`, aRun) : get(`${agent}/runs?limit=5`))],
    [2, () => get(`${agent}/errors`)],
    [1, () => get('/v1/schedules')],
    [1, () => get('/v1/openapi.json')],
    [1, () => get('/v1/nowhere')],
  ];
  let chance = random() * kinds.reduce((all, [weight]) => all + weight, 0);
  const chosen = kinds.find(([weight]) => {
    chance -= weight;
    return chance < 0;
  });
  return chosen === undefined ? get(instance) : chosen[1]();
}

function get(path: string, headers: Call['headers'] = {}): Call {
  return { method: 'GET', path, headers };
}

function remove(path: string): Call {
  return { method: 'DELETE', path };
}

function put(path: string, value: unknown, headers: Call['headers'] = {}): Call {
  return { ...post(path, value, headers), method: 'PUT' };
}

function post(path: string, value: unknown, headers: Call['headers'] = {}): Call {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

function putBytes(path: string, random: () => number, length: number): Call {
  return { method: 'PUT', path, body: Uint8Array.from({ length }, () => random() * 256) };
}

function state(random: () => number, turns: number) {
  return { mood: 'calm', turns: upTo(turns, () => random()) };
}

/** The same contents under the same ids, always. */
function remember(session: number, batch: number): Call {
  const messages = upTo(1 + (batch % 5), (index) => ({
    id: `${batch}-${index}`,
    content: `said in ${batch} `.repeat(1 + batch * 40),
    sender: { id: 'ann' },
  }));
  return post(`${sessionOf(session)}/messages`, messages);
}

function upTo<T>(count: number, item: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, number) => item(number));
}
