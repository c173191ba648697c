import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { createRuntime, defineAgent, inMemoryStores, runSessionJob, webhook } from '../../lib/index.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { lifecycleFunctions } from '../support/lifecycle-functions.ts';
import { signingSecret, type WebhookReceiver, webhookReceiver } from '../support/webhook-receiver.ts';

let lines: string[];
beforeEach(() => {
  lines = capturedLog();
  vi.stubEnv('DIGEST_SECRET', signingSecret);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("the README's example of a request is what is sent", async () => {
  const text = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const [, section = ''] = text.split('### An action in any language\n');
  const [sent = ''] = /^\{"agent":.*$/m.exec(section) ?? [];
  const [, id] = /^webhook-id: (.*)$/m.exec(section) ?? [];
  const { session, run, ...example } = JSON.parse(sent);
  const receiver = await webhookReceiver((response) => response.end());
  const { url } = receiver;
  const runtime = createRuntime(example.agent, { stores: inMemoryStores() });

  await runSessionJob(runtime, run.action, webhook({ url, secret: 'DIGEST_SECRET' }), {
    sessions: [
      {
        ...session,
        registeredAt: new Date(session.registeredAt),
        lastActiveAt: new Date(session.lastActiveAt),
      },
    ],
    runId: run.runId,
    now: new Date(run.startedAt),
  });

  expect(receiver.received).toMatchObject([{ body: sent, headers: { 'webhook-id': id } }]);
});

describe.each([
  ['without tenants', undefined, undefined],
  ['with tenants', 'org', 'ann~b/c%'],
])('an action that is a webhook, %s', (_what, tenantClaim, org) => {
  const claims = org === undefined ? {} : { claims: { org } };
  const call = async (method: string, path: string, body?: unknown) =>
    request(method, `/v1/agents/support/${path}`, {
      ...claims,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  /** Runs it over one session, and resolves the path of the run. */
  const digest = async ({ url }: WebhookReceiver) => {
    const actions = { digest: webhook({ url: `${url}?token=T0KEN`, secret: 'DIGEST_SECRET' }) };
    const functions = lifecycleFunctions([defineAgent({ name: 'support', actions })], { tenantClaim });
    await call('PUT', 'sessions/chat-SESS10N', { meta: { note: 'M3TA' } });
    const { body } = await call('POST', 'runs', { action: 'digest' });
    await functions.drain();
    return `runs/${body.runId}`;
  };

  test('is told the agent and the session as the API names them, and its answer is the result', async () => {
    const receiver = await webhookReceiver((response) => response.end('{"summary":"ANSW3R"}'));

    const run = await digest(receiver);

    const { items } = (await call('GET', `${run}/jobs`)).body;
    expect(items).toMatchObject([{ sessionId: 'chat-SESS10N', ok: true, result: { summary: 'ANSW3R' } }]);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(new Webhook(signingSecret).verify(body, headers)).toEqual({
      agent: 'support',
      ...(org !== undefined && { tenant: org }),
      session: (await call('GET', 'sessions/chat-SESS10N')).body,
      run: {
        ...{ runId: run.slice('runs/'.length), action: 'digest' },
        scheduledAt: expect.stringMatching(/Z$/),
        startedAt: (await call('GET', run)).body.startedAt,
      },
      idempotencyKey: headers['webhook-id'],
    });
  });

  test.each([
    ['fails with the problem of the answer', 500, 'the webhook answered 500: PR0BLEM'],
    ['has the answer for a result', 200, undefined],
  ])('%s, of which nothing is in the log', async (_how, status, reason) => {
    const receiver = await webhookReceiver((response) =>
      response
        .writeHead(status, { 'content-type': 'application/problem+json' })
        .end('{"title":"PR0BLEM","more":"ANSW3R"}'),
    );

    const run = await digest(receiver);

    const { items } = (await call('GET', `${run}/jobs`)).body;
    expect(items[0].error?.reason).toBe(reason);
    const errors = (await call('GET', 'errors')).body.items;
    expect(errors.map(({ msg }: { msg: string }) => msg)).toEqual(reason ? [`failed: ${reason}`] : []);
    const log = lines.join();
    expect(log).toContain('"agent":"support"');
    for (const secret of ['T0KEN', 'SESS10N', 'M3TA', 'PR0BLEM', 'ANSW3R', signingSecret])
      expect(log).not.toContain(secret);
  });
});
