import type { Operation } from '../../../lib/http/routes.ts';
import type { ErrorCode } from '../http-error.ts';
import {
  agent,
  always,
  count,
  described,
  jsonContent,
  listOf,
  type OperationDescription,
  object,
  ofBodies,
  paging,
  parameter,
  stored,
  text,
  time,
} from './parts.ts';

const run = parameter('run', 'path', text, 'The run’s id', true);
const runShape = object(
  {
    ...{ runId: text, agent: text, action: text, schedule: text, reason: text },
    trigger: { type: 'string', enum: ['schedule', 'request'] },
    status: { type: 'string', enum: ['running', 'completed', 'failed', 'skipped'] },
    ...{ startedAt: time, finishedAt: time, sessions: count, ok: count, failed: count },
  },
  ['runId', 'agent', 'action', 'trigger', 'status', 'startedAt', 'sessions', 'ok', 'failed'],
);
const jobError = object(
  { kind: { type: 'string', enum: ['failed', 'cancelled', 'thrown', 'timed_out'] }, reason: text },
  ['kind', 'reason'],
);
const job = object(
  {
    ...{ sessionId: text, action: text, ok: { type: 'boolean' } },
    result: { description: 'What the handler returned; null for nothing' },
    error: { oneOf: [jobError, { type: 'null' }] },
  },
  ['sessionId', 'action', 'ok', 'result', 'error'],
);
const schedule = object(
  {
    ...{ name: text, agent: text, action: text, cron: text, timezone: text },
    expressions: { type: 'array', items: text, description: 'What EventBridge is given' },
    description: { type: 'string', description: 'The same in plain English' },
    next: { type: 'array', items: time, description: 'The next times at which it is due' },
    over: { type: 'boolean', description: 'It has come for the last time' },
  },
  ['name', 'agent', 'action', 'cron', 'expressions', 'description', 'next', 'over'],
);
const startedRun = object({ runId: text }, ['runId']);
const runRequest = object(
  {
    action: text,
    sessions: {
      type: 'array',
      items: text,
      minItems: 1,
      maxItems: 100,
      description: 'The only sessions to visit; without it, every registered one',
    },
  },
  ['action'],
);
const readErrors: readonly ErrorCode[] = ['corrupt', ...stored];
const listErrors: readonly ErrorCode[] = ['invalid_request', 'invalid_cursor', ...readErrors];

export const runOperations = {
  'start-run': {
    summary: 'Run an action over the sessions of an agent, now',
    parameters: [agent],
    requestBody: { required: true, content: jsonContent(runRequest) },
    responses: {
      202: described('The run. It may be noted as skipped, since another one of its action is still going', {
        content: jsonContent(startedRun),
        headers: { location: { description: 'Where the run is', schema: text } },
      }),
    },
    errors: [
      'invalid_request',
      ...ofBodies,
      'invalid_input',
      'unknown_action',
      'too_many_runs',
      ...readErrors,
    ],
  },
  'list-runs': {
    summary: 'List the runs of an agent, newest first',
    parameters: [agent, parameter('action', 'query', text, 'Only runs of this action'), ...paging],
    responses: { 200: described('A page of runs', { content: jsonContent(listOf(runShape)) }) },
    errors: ['invalid_input', ...listErrors],
  },
  'get-run': {
    summary: 'Read a run: its status, and the totals of this moment',
    parameters: [agent, run],
    responses: { 200: described('The run', { content: jsonContent(runShape) }) },
    errors: ['run_not_found', ...readErrors],
  },
  'list-jobs': {
    summary: 'List the jobs of a run: one for each session that it visited',
    parameters: [
      ...[agent, run],
      parameter('ok', 'query', { type: 'boolean' }, 'Only jobs that succeeded, or only those that did not'),
      ...paging,
    ],
    responses: { 200: described('A page of jobs', { content: jsonContent(listOf(job)) }) },
    errors: ['run_not_found', ...listErrors],
  },
  'list-schedules': {
    summary: 'List the schedules of the defined agents, and when they are due next',
    parameters: [],
    responses: { 200: described('The schedules', { content: jsonContent(listOf(schedule)) }) },
    errors: always,
  },
} as const satisfies Partial<Record<Operation, OperationDescription>>;
