import type { HttpHandler } from '../../functions/http/http-handler.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { cancelled } from '../../lib/lifecycle/job-outcome.ts';
import { expectDescribed } from './described-answer.ts';
import { handlerOf } from './handler-of.ts';
import { httpEvent } from './http-event.ts';
import type { LifecycleFunctions } from './lifecycle-functions.ts';

const getRun = handlerOf('get-run');
const listJobs = handlerOf('list-jobs');
const listRuns = handlerOf('list-runs');
const startRun = handlerOf('start-run');

/** `digest` of `support` fails for the session s3, and calls off that of s4. */
export const agentsWithRuns = [
  defineAgent({
    name: 'support',
    actions: {
      digest: ({ id }) => {
        if (id === 's3') throw new Error('the model is away');
        return id === 's4' ? cancelled('paused') : { sent: id };
      },
      '50%/day~': () => undefined,
    },
  }),
  defineAgent({ name: 'other', actions: { digest: () => undefined } }),
];

const handlers = {
  'start-run': { handler: startRun, method: 'POST' },
  'list-runs': { handler: listRuns, method: 'GET' },
  'get-run': { handler: getRun, method: 'GET' },
  'list-jobs': { handler: listJobs, method: 'GET' },
} as const satisfies Record<string, { handler: HttpHandler; method: string }>;

export interface Asked {
  readonly agent?: string;
  readonly run?: string;
  readonly body?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly claims?: Record<string, string>;
}

/** The answer of an operation, held against what the OpenAPI document says of it. */
export async function ask(
  operation: keyof typeof handlers,
  { agent = 'support', run, ...parts }: Asked = {},
) {
  const { handler, method } = handlers[operation];
  const event = httpEvent({ method, agent, headers: { 'content-type': 'application/json' }, ...parts });
  const pathParameters = { agent, ...(run !== undefined && { run }) };
  const { statusCode, headers, body } = await handler({ ...event, pathParameters });
  const answer = { statusCode, headers, body: body ? JSON.parse(body) : undefined };
  expectDescribed(operation, answer);
  return answer;
}

/** The id of the run that was started. */
export async function start(body: unknown = { action: 'digest' }, more: Asked = {}): Promise<string> {
  return (await ask('start-run', { body: JSON.stringify(body), ...more })).body.runId;
}

/** As `start`, and works until nothing is left to do. */
export async function startAndEnd(
  functions: LifecycleFunctions,
  body?: unknown,
  more?: Asked,
): Promise<string> {
  const run = await start(body, more);
  await functions.drain();
  return run;
}

/** The ids of a page of runs. */
export async function newestFirst(query: Record<string, string> = {}, more: Asked = {}): Promise<string[]> {
  const { items } = (await ask('list-runs', { query, ...more })).body;
  return items.map(({ runId }: { runId: string }) => runId);
}
