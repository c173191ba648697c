import { runMaxSessions } from '../../../lib/defaults.ts';
import {
  agent,
  always,
  closed,
  count,
  type Descriptions,
  described,
  jsonContent,
  listOf,
  name,
  object,
  ofBodies,
  ofPages,
  ofSessions,
  page,
  paging,
  pathParameter,
  paths,
  ref,
  stored,
  text,
  time,
} from '../description.ts';
import type { ErrorCode } from '../http-error.ts';

const run = pathParameter('run', { type: 'string', minLength: 1 }, 'The run’s id, as its start was answered');
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
    over: { const: true, description: 'It has come for the last time; absent otherwise' },
  },
  ['name', 'agent', 'action', 'cron', 'expressions', 'description', 'next'],
);
const error = object(
  { id: text, where: text, msg: text, ts: time, sessionId: text, runId: text, stack: text },
  ['id', 'where', 'msg', 'ts'],
);
const startedRun = object({ runId: text }, ['runId']);
const runRequest = closed(
  {
    action: { ...name, description: 'One of the agent’s actions' },
    sessions: {
      ...{ type: 'array', items: name, minItems: 1, maxItems: runMaxSessions },
      description: 'The only sessions to visit; without it, every registered one',
    },
  },
  ['action'],
);

export const runSchemas = {
  ...{
    Run: runShape,
    Job: job,
    Schedule: schedule,
    ErrorEntry: error,
    StartedRun: startedRun,
    RunRequest: runRequest,
  },
};

const readErrors: readonly ErrorCode[] = ['corrupt', ...stored];
const listErrors: readonly ErrorCode[] = ['invalid_cursor', ...readErrors];

const runs = `${paths.agent}/runs`;
const runPath = `${runs}/{run}`;

export const runOperations = {
  'start-run': {
    function: 'runs',
    methods: ['POST'],
    path: runs,
    tag: 'runs',
    summary: 'Run an action over the sessions of an agent, now',
    parameters: [agent],
    query: {},
    requestBody: { required: true, content: jsonContent(ref('RunRequest')) },
    responses: {
      202: described('The run. It may be noted as skipped, since another one of its action is still going', {
        content: jsonContent(ref('StartedRun')),
        headers: { Location: { description: 'Where the run is', schema: text } },
      }),
    },
    errors: [...ofBodies, 'invalid_input', 'unknown_action', 'too_many_runs', ...readErrors],
  },
  'list-runs': {
    function: 'runs',
    methods: ['GET'],
    path: runs,
    tag: 'runs',
    summary: 'List the runs of an agent, newest first',
    parameters: [agent],
    query: { action: { description: 'Only runs of this action', schema: name }, ...paging },
    responses: { 200: described('A page of runs', { content: jsonContent(listOf(ref('Run'))) }) },
    errors: ['invalid_input', ...listErrors],
  },
  'get-run': {
    function: 'runs',
    methods: ['GET'],
    path: runPath,
    tag: 'runs',
    summary: 'Read a run: its status, and the totals of this moment',
    parameters: [agent, run],
    query: {},
    responses: { 200: described('The run', { content: jsonContent(ref('Run')) }) },
    errors: ['run_not_found', ...readErrors],
  },
  'list-jobs': {
    function: 'runs',
    methods: ['GET'],
    path: `${runPath}/jobs`,
    tag: 'runs',
    summary: 'List the jobs of a run: one for each session that it visited',
    parameters: [agent, run],
    query: {
      ok: {
        description: 'Only jobs that succeeded, or only those that did not',
        schema: { type: 'boolean' },
      },
      ...paging,
    },
    responses: { 200: described('A page of jobs', { content: jsonContent(listOf(ref('Job'))) }) },
    errors: ['run_not_found', ...listErrors],
  },
  'list-schedules': {
    function: 'runs',
    methods: ['GET'],
    path: '/v1/schedules',
    tag: 'runs',
    summary: 'List the schedules of the defined agents, and when they are due next',
    parameters: [],
    query: {},
    responses: { 200: described('The schedules', { content: jsonContent(listOf(ref('Schedule'))) }) },
    errors: always,
  },
  'list-errors': {
    function: 'runs',
    methods: ['GET'],
    path: `${paths.agent}/errors`,
    tag: 'sessions',
    summary: 'Read the error log, newest first',
    parameters: [agent],
    query: paging,
    responses: page('ErrorEntry'),
    errors: [...ofPages, ...ofSessions],
  },
} satisfies Descriptions;
