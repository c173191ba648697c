import type { ApiTarget } from './api-request.ts';
import type { AwsCalls } from './aws-calls.ts';
import type { Report } from './report.ts';
import { endOfRun, itemsAt, jobsOf, type LoggedError, probe, registerSession, startRun } from './runs.ts';
import { type DeployedStack, output } from './template.ts';

/**
 * A run of three sessions, of which one throws. The suite has more of them; what only this one sees is that the
 * failure is in the table of errors.
 */
export async function checkRun(
  report: Report,
  aws: AwsCalls,
  api: ApiTarget,
  stack: DeployedStack,
): Promise<void> {
  const sessions = ['well', 'also-well', 'ill'].map((name) => `rehearsal-run-${name}`);
  const [, , ill = ''] = sessions;
  for (const id of sessions) await registerSession(api, id, id === ill ? { behaviour: 'throw' } : {});

  const run = await endOfRun(api, await startRun(api, 'stumble', sessions));
  if (run === undefined) {
    report.check('a run over HTTP completes', false, 'it was still going on');
    return;
  }
  const totals = { status: run.status, sessions: run.sessions, ok: run.ok, failed: run.failed };
  const wanted = { status: 'completed', sessions: 3, ok: 2, failed: 1 };
  report.check(
    'a run over HTTP completes with exact totals',
    JSON.stringify(totals) === JSON.stringify(wanted),
    JSON.stringify(totals),
  );
  const failed = (await jobsOf(api, run)).filter(({ ok }) => !ok);
  report.check(
    'the job of the session that threw has failed, and no other',
    failed.map(({ sessionId }) => sessionId).join() === ill && failed[0]?.error?.reason === 'stumbled',
    JSON.stringify(failed),
  );

  const errors = await itemsAt<LoggedError>(api, `${probe}/errors?limit=1000`);
  const [entry] = errors.filter((error) => error.runId === run.runId);
  const row = entry && (await errorRow(aws, output(stack, 'ErrorsTableName'), run.runId));
  report.check(
    'its error is in the error log of the API',
    entry?.sessionId === ill && entry.msg.includes('stumbled'),
    JSON.stringify(entry),
  );
  report.check(
    'and in the table of errors',
    row?.sessionId?.S === ill && row.sk?.S === entry?.id,
    JSON.stringify(row),
  );
}

type Row = Readonly<Record<string, { readonly S?: string }>>;

async function errorRow(aws: AwsCalls, TableName: string, runId: string): Promise<Row | undefined> {
  const answer = await aws.json('dynamodb', 'DynamoDB_20120810.Scan', {
    TableName,
    FilterExpression: 'runId = :run',
    ExpressionAttributeValues: { ':run': { S: runId } },
  });
  return (answer as { Items: Row[] }).Items[0];
}
