import type { ActionHandler } from '../agents/agent-definition.ts';
import { InvalidDefinitionError } from '../agents/invalid-definition-error.ts';
import { unknownFieldProblem } from '../input.ts';
import { signingSecretProblem } from './signing-secret.ts';

export interface WebhookOptions {
  /** An https URL; on your own machine also http to it: `http://localhost:8000/digest`. */
  readonly url: string;
  /**
   * The name of the secret that requests are signed with, as `ctx.secret` takes it, or the secret itself: `whsec_` and
   * the base64 of 24 to 64 random bytes.
   */
  readonly secret: string;
}

/**
 * An action that somebody else does, in any language: each session is sent to a URL as JSON, signed as the Standard
 * Webhooks specification says, and the JSON answer is the job's result; 204 is none. Any other status than 2xx is a
 * failed job, with the title and detail of an `application/problem+json` answer. Redirects are not followed. A session
 * that is visited again comes under the same `webhook-id`.
 *
 * The request is `{agent, tenant?, session: {id, meta, registeredAt, lastActiveAt}, run: {runId, action, scheduledAt,
 * startedAt}, idempotencyKey}`, with times in ISO 8601.
 *
 * @throws InvalidDefinitionError naming the option: a URL that cannot be reached safely, a secret that is none
 * @example
 * defineAgent({
 *   name: 'support',
 *   actions: { digest: webhook({ url: 'https://agents.example.com/digest', secret: 'DIGEST_SECRET' }) },
 * });
 */
export function webhook(options: WebhookOptions): ActionHandler {
  const problem = problemOf(options);
  if (problem !== undefined) throw new InvalidDefinitionError(`webhook: ${problem}`);
  const { url, secret } = options;
  // Imported on first use: no function but the worker has this file in its bundle (see infra/lazy-modules.ts).
  return async (session, context) => {
    const { sendWebhook } = await import('./send-webhook.ts');
    return sendWebhook({ url, secret }, session, context);
  };
}

/** Of neither option the value: a URL may have a token in it. */
function problemOf(options: unknown): string | undefined {
  if (typeof options !== 'object' || options === null) return 'must be given { url, secret }';
  const unknown = unknownFieldProblem(options, ['url', 'secret']);
  if (unknown !== undefined) return unknown;
  const { url, secret } = options as Readonly<Record<string, unknown>>;
  return urlProblem(url) ?? secretProblem(secret);
}

function urlProblem(url: unknown): string | undefined {
  if (url === undefined || url === '') return 'url is missing';
  if (typeof url !== 'string' || !URL.canParse(url)) return 'url must be an https URL';
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return 'url must be without user name and password';
  if (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))) return undefined;
  return 'url must be an https URL, or on your own machine http to localhost, 127.0.0.1 or [::1]';
}

/** @param host as `URL` has it: `127.1` is spelled out there */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function secretProblem(secret: unknown): string | undefined {
  const expected = 'the name of a secret (setting worker.secrets), or whsec_… itself';
  if (secret === undefined || secret === '') return `secret is missing: ${expected}`;
  if (typeof secret !== 'string') return `secret must be ${expected}`;
  if (secret.startsWith('whsec_')) {
    const problem = signingSecretProblem(secret);
    return problem && `secret ${problem}`;
  }
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(secret) ? undefined : `secret must be ${expected}`;
}
