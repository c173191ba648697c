import type { ServerResponse } from 'node:http';
import { vi } from 'vitest';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { runSessionJob } from '../../lib/lifecycle/run-session-job.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import type { LookupAll, Reach } from '../../lib/webhooks/addresses.ts';
import { sendWebhook } from '../../lib/webhooks/send-webhook.ts';
import { signingSecret } from './webhook-receiver.ts';

export const runtime = createRuntime('support', { stores: inMemoryStores() });
const now = new Date('2026-12-01T07:00:00.000Z');
export const session = {
  id: 'chat.7 "ü"',
  meta: { channel: 'web', since: new Date(0) },
  registeredAt: new Date('2026-11-01T00:00:00.000Z'),
  lastActiveAt: new Date('2026-11-02T00:00:00.000Z'),
};
/** This machine and public addresses, as outside of Lambda; and public ones only, as within. */
export const everywhere: Reach = { loopback: true, privateAddresses: false };
export const nowhere: Reach = { loopback: false, privateAddresses: false };

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
export async function jobOf({ url, secret = signingSecret, reach, lookup, signal, runId }: Sent) {
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

export const reasonOf = async (sent: Sent) => (await jobOf(sent))?.error?.reason;
export const json = (body: unknown) => (response: ServerResponse) => response.end(JSON.stringify(body));

/** A DNS that has these addresses for every name. */
export const resolving = (...addresses: string[]) =>
  vi.fn<LookupAll>((_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ),
  );
