import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { webhookAnswerMaxBytes, webhookProblemMaxChars } from '../defaults.ts';
import { failed, JobOutcomeError } from '../lifecycle/job-outcome.ts';
import type { SessionJobContext } from '../lifecycle/session-job.ts';
import { messageOf } from '../message-of.ts';
import { serializeValue } from '../persistence/serialize-value.ts';
import { isRunId, timeOfRunId } from '../runs/run-id.ts';
import type { Session } from '../sessions/session.ts';
import { checkedLookup, type LookupAll, type Reach, reachOf } from './addresses.ts';
import { type Answer, post } from './post.ts';
import { signingSecretProblem } from './signing-secret.ts';

type Context = Pick<
  SessionJobContext,
  'action' | 'agent' | 'runtime' | 'runId' | 'now' | 'idempotencyKey' | 'secret' | 'signal'
>;

interface Surroundings {
  readonly reach?: Reach;
  readonly lookup?: LookupAll;
}

/**
 * Sends a session to a webhook, once, and resolves the job's result: what the answer says, or null for 204 and an empty
 * one. Throws what makes a failed job: no answer, one that is no JSON or too long, any other status than 2xx.
 *
 * 1. find the secret, 2. judge the address, 3. sign and send, 4. read the answer, up to a limit.
 */
export async function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  session: Session,
  context: Context,
  { reach = reachOf(process.env), lookup }: Surroundings = {},
): Promise<unknown> {
  const signer = new Webhook(await signingSecret(secret, context));
  const target = new URL(url);
  const id = messageId(context.idempotencyKey);
  const body = JSON.stringify(serializeValue({ ...message(session, context), idempotencyKey: id }));
  const sentAt = context.runtime.now();
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    accept: 'application/json, application/problem+json',
    // Without it, any coding would be welcome.
    'accept-encoding': 'identity',
    'user-agent': 'dormouse',
    'webhook-id': id,
    'webhook-timestamp': Math.floor(sentAt.getTime() / 1000),
    'webhook-signature': signer.sign(id, sentAt, body),
  };
  const { signal } = context;
  try {
    const checked = checkedLookup(target, reach, lookup);
    const request = { headers, body, signal, lookup: checked, answerMaxBytes: webhookAnswerMaxBytes };
    return resultOf(await post(target, request));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof JobOutcomeError) throw error;
    throw failed(`the webhook at ${target.host} could not be reached: ${messageOf(error)}`);
  }
}

async function signingSecret(secret: string, context: Context): Promise<string> {
  // The definition was checked; a name has no value until now.
  if (secret.startsWith('whsec_')) return secret;
  const value = await context.secret(secret);
  const problem = signingSecretProblem(value);
  if (problem !== undefined) throw failed(`the secret '${secret}' ${problem}`);
  return value;
}

/** An idempotency key holds the name of a session: what is signed is parted by dots, and a header takes few characters. */
function messageId(idempotencyKey: string): string {
  return `msg_${createHash('sha256').update(idempotencyKey).digest('base64url')}`;
}

function message(session: Session, context: Context) {
  const { id, meta, registeredAt, lastActiveAt } = session;
  const { action, runId, now } = context;
  const { name: agent, tenant } = context.agent();
  return {
    agent,
    tenant,
    session: { id, meta, registeredAt, lastActiveAt },
    run: { runId, action, scheduledAt: isRunId(runId) ? timeOfRunId(runId) : now, startedAt: now },
  };
}

function resultOf(answer: Answer): unknown {
  const { status, body, isEncoded } = answer;
  if (status >= 300 && status < 400)
    throw failed(`the webhook answered ${status}, and redirects are not followed: set the URL it leads to`);
  if (status < 200 || status > 299)
    throw failed([`the webhook answered ${status}`, ...problemOf(answer)].join(': '));
  if (body === undefined) throw failed(`the webhook's answer is longer than ${webhookAnswerMaxBytes} bytes`);
  if (status === 204 || body.length === 0) return null;
  if (isEncoded)
    throw failed("the webhook's answer is compressed, which was not asked for: send it as it is");
  const parsed = parsedJson(body);
  if (parsed === undefined) throw failed(`the webhook answered ${status} with what is no JSON`);
  return parsed.value;
}

/** What an RFC 9457 answer says went wrong, in one line. Any other is not quoted. */
function problemOf({ contentType, body }: Answer): string[] {
  if (!/^application\/problem\+json\s*(;|$)/i.test(contentType) || body === undefined) return [];
  const { title, detail } = Object(parsedJson(body)?.value) as Readonly<Record<string, unknown>>;
  return [title, detail].flatMap((text) => {
    const line = typeof text === 'string' ? text.replace(/[\p{Cc}\s]+/gu, ' ').trim() : '';
    return line === '' ? [] : [line.slice(0, webhookProblemMaxChars).toWellFormed()];
  });
}

function parsedJson(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) };
  } catch {
    return undefined;
  }
}
