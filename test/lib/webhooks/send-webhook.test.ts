import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { JobTimeoutError } from '../../../lib/lifecycle/job-outcome.ts';
import { requestedRunId } from '../../../lib/runs/run-id.ts';
import type { LookupAll } from '../../../lib/webhooks/addresses.ts';
import { jobOf, json, reasonOf } from '../../support/sent-webhook.ts';
import { signingSecret, webhookReceiver } from '../../support/webhook-receiver.ts';

function* endlessText() {
  for (;;) yield 'x'.repeat(1024);
}

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

  test('asks for an answer that is not compressed, and says so where one comes', async () => {
    const { url, received } = await webhookReceiver((response, request) => {
      const isWelcome = !/identity/.test(String(request.headers['accept-encoding']));
      if (isWelcome || received.length > 1)
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
      else response.writeHead(200, { 'content-encoding': 'Identity' }).end('{"a":1}');
    });

    expect(await jobOf({ url })).toMatchObject({ ok: true, result: { a: 1 } });
    expect(await reasonOf({ url })).toBe(
      "the webhook's answer is compressed, which was not asked for: send it as it is",
    );
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
