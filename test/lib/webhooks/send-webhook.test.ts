import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { JobTimeoutError } from '../../../lib/lifecycle/job-outcome.ts';
import { runSessionJob } from '../../../lib/lifecycle/run-session-job.ts';
import { requestedRunId } from '../../../lib/runs/run-id.ts';
import { createRuntime } from '../../../lib/sessions/create-runtime.ts';
import { inMemoryStores } from '../../../lib/sessions/in-memory-stores.ts';
import { checkedLookup, type LookupAll, type Reach, reachOf } from '../../../lib/webhooks/addresses.ts';
import { sendWebhook } from '../../../lib/webhooks/send-webhook.ts';
import { webhook } from '../../../lib/webhooks/webhook.ts';
import { signingSecret, webhookReceiver } from '../../support/webhook-receiver.ts';

const runtime = createRuntime('support', { stores: inMemoryStores() });
const now = new Date('2026-12-01T07:00:00.000Z');
const session = {
  id: 'chat.7 "ü"',
  meta: { channel: 'web', since: new Date(0) },
  registeredAt: new Date('2026-11-01T00:00:00.000Z'),
  lastActiveAt: new Date('2026-11-02T00:00:00.000Z'),
};
const everywhere: Reach = { loopback: true, privateAddresses: false };
const nowhere: Reach = { loopback: false, privateAddresses: false };

interface Sent {
  readonly url: string;
  readonly secret?: string;
  readonly reach?: Reach;
  readonly lookup?: LookupAll;
  readonly runId?: string;
  /** In place of the one of its time limit. */
  readonly signal?: AbortSignal;
}

/** The job of one session that is sent to a webhook. */
async function jobOf({ url, secret = signingSecret, reach, lookup, signal, runId }: Sent) {
  const surroundings = { ...(reach && { reach }), ...(lookup && { lookup }) };
  const [job] = await runSessionJob(
    runtime,
    'digest',
    (visited, context) =>
      sendWebhook({ url, secret }, visited, { ...context, ...(signal && { signal }) }, surroundings),
    {
      ...{ sessions: [session], now, runId },
      secrets: async (name) => (name === 'SHORT' ? 'whsec_T0KEN' : undefined),
    },
  );
  return job;
}
const reasonOf = async (sent: Sent) => (await jobOf(sent))?.error?.reason;
function* endlessText() {
  for (;;) yield 'x'.repeat(1024);
}
const json = (body: unknown) => (response: ServerResponse) => response.end(JSON.stringify(body));

describe('a session that is sent to a webhook', () => {
  test('is signed as the package of the specification verifies, and its answer is the result', async () => {
    const { url, received } = await webhookReceiver(json({ said: 'grüße' }));
    const runId = requestedRunId(new Date('2026-12-01T06:59:00.000Z'), 'x');

    const job = await jobOf({ url, runId });

    expect(job).toMatchObject({ ok: true, result: { said: 'grüße' } });
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect(new Webhook(signingSecret).verify(body, headers)).toEqual({
      agent: 'support',
      session: {
        id: 'chat.7 "ü"',
        meta: { channel: 'web', since: '1970-01-01T00:00:00.000Z' },
        registeredAt: '2026-11-01T00:00:00.000Z',
        lastActiveAt: '2026-11-02T00:00:00.000Z',
      },
      run: {
        runId,
        action: 'digest',
        scheduledAt: '2026-12-01T06:59:00.000Z',
        startedAt: '2026-12-01T07:00:00.000Z',
      },
      idempotencyKey: headers['webhook-id'],
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_[\w-]{43}$/),
    });
    expect(() => new Webhook(signingSecret).verify(`${body} `, headers)).toThrow();
  });

  test('comes again under the same id, and in another run under another', async () => {
    const { url, received } = await webhookReceiver(json(1));

    for (const runId of ['one', 'one', 'two']) await jobOf({ url, runId });

    const [first, again, other] = received.map(({ headers }) => headers['webhook-id']);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test.each([
    ['204', (response: ServerResponse) => response.writeHead(204).end()],
    ['an empty answer', (response: ServerResponse) => response.end()],
    ['null', json(null)],
  ])('has no result by %s', async (_what, answer) => {
    const { url } = await webhookReceiver(answer);

    expect(await jobOf({ url })).toMatchObject({ ok: true, result: null });
  });

  test('has a job that fails where the answer says so', async () => {
    const { url } = await webhookReceiver(json({ status: 'error', error: { message: 'nobody home' } }));

    expect(await reasonOf({ url })).toBe('nobody home');
  });

  test.each([
    ['text', 'OK'],
    ['half of a text', '{"a":'],
    ['bytes', Buffer.from([0x22, 0xff, 0x22])],
  ])('fails with an answer that is %s, which is not quoted', async (_what, answer) => {
    const { url } = await webhookReceiver((response) => response.end(answer));

    expect(await reasonOf({ url })).toBe('the webhook answered 200 with what is no JSON');
  });

  test('fails with an answer that is too long, of which no more is read', async () => {
    const limit = 64 * 1024;
    const ofBytes = (count: number) => `"${'x'.repeat(count - 2)}"`;
    const whole = await webhookReceiver((response) => response.end(ofBytes(limit)));
    const events = new EventEmitter();
    const ended = once(events, 'ended');
    const endless = await webhookReceiver((response) => {
      pipeline(Readable.from(endlessText()), response, () => events.emit('ended'));
    });

    expect((await jobOf(whole))?.ok).toBe(true);
    expect(await reasonOf(endless)).toBe("the webhook's answer is longer than 65536 bytes");
    await ended;
  });

  const problem = (status: number, body: unknown, type = 'application/problem+json; charset=utf-8') =>
    webhookReceiver((response) =>
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body)),
    );
  test.each([
    [
      422,
      { title: 'No digest', detail: 'nothing\n was   said', more: 'T0KEN' },
      ': No digest: nothing was said',
    ],
    [503, { title: 'Busy' }, ': Busy'],
    [400, { title: 7, detail: '' }, ''],
    [400, 'a text', ''],
    [400, null, ''],
    [500, { detail: 'x'.repeat(5000) }, `: ${'x'.repeat(300)}`],
    [500, { detail: 'x'.repeat(70_000) }, ''],
  ])('fails by %i with the problem that the answer says: %j', async (status, body, said) => {
    expect(await reasonOf(await problem(status, body))).toBe(`the webhook answered ${status}${said}`);
  });

  test('fails by an error without what its page says', async () => {
    const { url } = await problem(404, { title: 'T0KEN' }, 'application/json');

    expect(await jobOf({ url })).toMatchObject({
      error: { kind: 'failed', reason: 'the webhook answered 404' },
    });
  });

  test.each([301, 302, 303, 307, 308])('fails by a redirect (%i), which is not followed', async (status) => {
    const { url, received } = await webhookReceiver((response) =>
      response.writeHead(status, { location: '/T0KEN' }).end(),
    );

    expect(await reasonOf({ url })).toBe(
      `the webhook answered ${status}, and redirects are not followed: set the URL it leads to`,
    );
    expect(received).toHaveLength(1);
  });

  test('fails when its time is up, and the connection is closed', async () => {
    const timeout = new AbortController();
    const events = new EventEmitter();
    const closed = once(events, 'closed');
    const { url } = await webhookReceiver((response) => {
      response.on('close', () => events.emit('closed'));
      response.write('"');
      timeout.abort(new JobTimeoutError(1000));
    });

    expect((await jobOf({ url, signal: timeout.signal }))?.error?.kind).toBe('timed_out');
    await closed;
  });

  test('is not sent when its time was up before', async () => {
    const { url, received } = await webhookReceiver(json(1));
    const signal = AbortSignal.abort(new JobTimeoutError(1000));

    expect((await jobOf({ url, signal }))?.error?.kind).toBe('timed_out');
    expect(received).toEqual([]);
  });

  test('fails where nobody listens, or the connection ends, and names the host only', async () => {
    const { port } = await webhookReceiver((response) => response.destroy());
    const url = `http://127.0.0.1:${port}/T0KEN?key=T0KEN`;

    expect(await reasonOf({ url })).toBe(
      `the webhook at 127.0.0.1:${port} could not be reached: socket hang up`,
    );
    const nobody: LookupAll = (_host, _options, callback) =>
      callback(Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' }), []);
    expect(await reasonOf({ url: 'https://hooks.example.com/T0KEN', lookup: nobody })).toBe(
      'the webhook at hooks.example.com could not be reached: getaddrinfo ENOTFOUND x',
    );
  });
});

describe('the secret of a webhook', () => {
  test('is found by its name', async () => {
    vi.stubEnv('DIGEST_SECRET', signingSecret);
    const { url, received } = await webhookReceiver(json(1));

    expect(await jobOf({ url, secret: 'DIGEST_SECRET' })).toMatchObject({ ok: true });

    vi.unstubAllEnvs();
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    expect(() => new Webhook(signingSecret).verify(body, headers)).not.toThrow();
  });

  test('that is missing, or none, fails the job before anything is sent', async () => {
    const { url, received } = await webhookReceiver(json(1));

    expect(await reasonOf({ url, secret: 'NO_SUCH' })).toMatch(
      /^there is no secret 'NO_SUCH': set the variable/,
    );
    expect(await reasonOf({ url, secret: 'SHORT' })).toBe(
      "the secret 'SHORT' must be whsec_ and the base64 of 24 to 64 bytes",
    );
    expect(received).toEqual([]);
  });
});

const resolving = (...addresses: string[]) =>
  vi.fn<LookupAll>((_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ),
  );

describe('the address of a webhook', () => {
  test.each([
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['::ffff:10.0.0.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['::ffff:169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['192.0.2.1', 'reserved'],
    ['64:ff9b::a00:1', 'rfc6052'],
    ['2002:a00:1::', '6to4'],
    ['::a00:1', 'unicast'],
    ['4000::1', 'unicast'],
  ])('is refused where it is %s (%s), looked up or in the URL', async (address, range) => {
    const lookup = resolving('93.184.215.14', address);
    const literal = address.includes(':') ? `[${address}]` : address;
    const refused = new RegExp(`could not be reached: its address is not public \\(${range}\\)`);

    expect(await reasonOf({ url: 'https://hooks.example.com/', reach: nowhere, lookup })).toMatch(refused);
    expect(await reasonOf({ url: `https://${literal}/`, reach: nowhere, lookup })).toMatch(refused);
    expect(lookup).toHaveBeenCalledTimes(1);
  });

  test('may be private where the setting allows it, but not of the machine, nor of its metadata', async () => {
    const reach = { loopback: false, privateAddresses: true };
    const url = new URL('https://hooks.example.com/');
    const found = (address: string) =>
      promisify(checkedLookup(url, reach, resolving(address)))('hooks.example.com', {});

    for (const address of ['10.1.2.3', '100.64.0.1', 'fd00::1', '93.184.215.14'])
      expect(await found(address)).toBe(address);
    for (const address of ['127.0.0.1', '::1', '169.254.169.254', '169.254.170.2', 'fe80::1'])
      await expect(found(address)).rejects.toThrow(/not public/);
  });

  test('that is private is refused with the setting that would allow it', async () => {
    const lookup = resolving('10.0.0.1');

    expect(await reasonOf({ url: 'https://hooks.example.com/', reach: nowhere, lookup })).toMatch(
      /worker\.allowPrivateAddresses allows/,
    );
  });

  test('is the one that was judged: the name is looked up once, whatever it resolves to next', async () => {
    const { port, received } = await webhookReceiver(json('here'));
    const lookup = vi.fn(resolving('169.254.169.254')).mockImplementationOnce(resolving('127.0.0.1'));

    const job = await jobOf({ url: `http://hooks.example.com:${port}/`, reach: everywhere, lookup });

    expect(job?.result).toBe('here');
    expect(lookup).toHaveBeenCalledTimes(1);
    expect(received[0]?.headers.host).toBe(`hooks.example.com:${port}`);
  });

  test('is refused where it cannot be read', async () => {
    const lookup = resolving('not an address');

    expect(await reasonOf({ url: 'https://hooks.example.com/', lookup })).toMatch(/cannot be read$/);
  });

  test('is not connected to where it is refused', async () => {
    const { port, received } = await webhookReceiver(json(1));
    const lookup = resolving('127.0.0.1');

    for (const url of [
      `http://localhost:${port}/`,
      `http://127.0.0.1:${port}/`,
      `https://a.example:${port}/`,
    ])
      expect(await reasonOf({ url, reach: nowhere, lookup })).toMatch(/http is for|not public \(loopback\)/);

    expect(received).toEqual([]);
  });

  test('is no other than of this machine over http', async () => {
    const reach = { loopback: true, privateAddresses: true };
    const lookup = resolving('93.184.215.14');

    expect(await reasonOf({ url: 'http://localhost/', reach, lookup })).toMatch(
      /http is for a server on your own/,
    );
  });

  test('is judged again for each request: no connection is used twice', async () => {
    const { port, received } = await webhookReceiver(json(1));
    const lookup = vi.fn(resolving('169.254.169.254')).mockImplementationOnce(resolving('127.0.0.1'));
    const url = `http://hooks.example.com:${port}/`;

    expect(await jobOf({ url, reach: everywhere, lookup })).toMatchObject({ ok: true });
    expect(await jobOf({ url, reach: everywhere, lookup })).toMatchObject({ ok: false });

    expect(received).toHaveLength(1);
  });

  test('is spoken to with TLS where the URL says https', async () => {
    const { port, received } = await webhookReceiver(json(1));

    expect(await reasonOf({ url: `https://127.0.0.1:${port}/`, reach: everywhere })).toMatch(
      /could not be reached: .*(SSL|EPROTO)/,
    );
    expect(received).toEqual([]);
  });

  test.each([
    [{}, true, false],
    [{ DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'true' }, true, true],
    [{ DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'false' }, true, false],
    [{ AWS_LAMBDA_FUNCTION_NAME: 'work' }, false, false],
    [{ AWS_LAMBDA_FUNCTION_NAME: 'work', DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'true' }, false, true],
  ])('may be what the environment %j allows', (env, loopback, privateAddresses) => {
    expect(reachOf(env)).toEqual({ loopback, privateAddresses });
  });

  test('may be of this machine but for in Lambda, where the runtime listens', async () => {
    const { url, received } = await webhookReceiver(json(1));
    const visit = async () =>
      (
        await runSessionJob(runtime, 'digest', webhook({ url, secret: signingSecret }), {
          sessions: [session],
        })
      )[0];

    expect(await visit()).toMatchObject({ ok: true });
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'work');
    const inLambda = await visit();
    vi.unstubAllEnvs();

    expect(inLambda?.error?.reason).toMatch(/http is for a server on your own machine only/);
    expect(received).toHaveLength(1);
  });
});
