import { afterEach, expect, test, vi } from 'vitest';
import { errorsTable, sessionsTable, snapshotsTable } from '../../lib/dynamodb/tables.ts';
import { environment } from '../../lib/environment.ts';
import { capturedLog } from '../support/captured-log.ts';
import { httpEvent } from '../support/http-event.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** An endpoint where nothing listens: a handler that gets as far as asking DynamoDB answers 503. */
const nowhere = {
  AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

test('a function needs the names of its own tables only, and a missing one is named in the log', async () => {
  // What a process reads from its environment, it reads once.
  vi.resetModules();
  const { handlerOf } = await import('../support/handler-of.ts');
  const [getSession, thaw] = [handlerOf('get-session'), handlerOf('thaw')];
  const lines = capturedLog();
  for (const [name, value] of Object.entries(nowhere)) vi.stubEnv(name, value);
  vi.stubEnv(sessionsTable.env, 'sessions');
  for (const { env } of [snapshotsTable, errorsTable]) vi.stubEnv(env, '');

  const session = { ...httpEvent(), pathParameters: { agent: 'planner', session: 's1' } };
  expect((await getSession(session)).statusCode).toBe(503);
  expect((await thaw(httpEvent({ key: 'k' }))).statusCode).toBe(500);
  expect(lines.join()).toContain(`the environment variable ${snapshotsTable.env} is not set`);
});

test.each([
  ['allow', 'allow'],
  ['skip', 'skip'],
  ['', 'skip'],
])('what happens to runs that overlap is the setting: %o', async (setting, expected) => {
  vi.resetModules();
  vi.stubEnv(environment.overlap, setting);
  const { services } = await import('../../functions/services.ts');

  expect(services().overlap).toBe(expected);
});
