import { type ApiTarget, apiJson } from './api-request.ts';
import type { AwsCalls } from './aws-calls.ts';
import type { CallsByService } from './check-grants.ts';
import { type Model, notes } from './model.ts';
import type { Report } from './report.ts';
import { endOfRun, type Job, jobsOf, startRun } from './runs.ts';
import { type DeployedStack, output } from './template.ts';
import { withoutGrant } from './without-grant.ts';

const agent = '/v1/agents/notes';
const session = 'rehearsal-notes';
const secret = { name: 'rehearsal/model-key', value: 'sk-rehearsed' };

/** The settings of the worker that the README's action wants. */
export function modelContext({ url }: Model): Readonly<Record<string, string>> {
  return {
    'worker.environment': JSON.stringify({ MODEL_URL: url, MODEL: 'rehearsed' }),
    'worker.secrets': JSON.stringify({ MODEL_KEY: secret.name }),
  };
}

/**
 * The README's action reads its variable and its secret, asks a model, and thaws, changes and saves its agent, all of it
 * as the worker. Without one of the permissions for that it fails, and names it: first the secret, which is not read yet
 * and then kept. Resolves the calls that were refused by that.
 */
export async function checkModelAction(
  report: Report,
  aws: AwsCalls,
  api: ApiTarget,
  stack: DeployedStack,
  model: Model,
): Promise<CallsByService> {
  await aws.json('secretsmanager', 'secretsmanager.CreateSecret', {
    ...{ Name: secret.name, SecretString: secret.value },
    ClientRequestToken: 'one-token-of-at-least-32-characters',
  });
  await apiJson(api, { method: 'PUT', path: `${agent}/sessions/${session}`, body: {} });
  const message = { content: 'Where is my parcel?', sender: { id: 'ann' } };
  await apiJson(api, { method: 'POST', path: `${agent}/sessions/${session}/messages`, body: message });
  await apiJson(api, { method: 'PUT', path: `${agent}/instances/${session}`, body: { mood: 'calm' } });

  const missing = [
    { action: 'secretsmanager:GetSecretValue', resource: `:secret:${secret.name}-` },
    { action: 'dynamodb:GetItem', resource: `table/${output(stack, 'SnapshotsTableName')}` },
  ];
  for (const { action, resource } of missing) {
    const job = await withoutGrant(aws, stack, { fn: 'Work', action, resource }, () => takeNotes(api));
    report.check(
      `an action without ${action} fails, and names it`,
      job?.ok === false && job.error?.reason.includes(action) === true,
      JSON.stringify(job),
    );
  }

  const job = await takeNotes(api);
  const instance = await apiJson<object>(api, { path: `${agent}/instances/${session}` });
  report.check('with both it succeeds', job?.ok === true && job.result === 2, JSON.stringify(job));
  report.check(
    'it has asked the model of its variable with the key of its secret',
    model.authorizations.at(-1) === `Bearer ${secret.value}`,
    model.authorizations.join(),
  );
  report.check(
    'and has saved what that said in the agent that was asleep',
    JSON.stringify(instance) === JSON.stringify({ mood: 'calm', notes }),
    JSON.stringify(instance),
  );
  return { secretsmanager: 1, dynamodb: 1 };
}

async function takeNotes(api: ApiTarget): Promise<Job | undefined> {
  const run = await endOfRun(api, await startRun(api, 'take-notes', [session], agent));
  return run && (await jobsOf(api, run, agent))[0];
}
