import type { AwsCalls } from './aws-calls.ts';
import type { Dispatcher } from './dispatcher.ts';
import { queueCalls } from './queues.ts';
import type { Report } from './report.ts';
import { type DeployedStack, output } from './template.ts';
import { until } from './until.ts';

const patienceMs = 60_000;

/** So long for these checks only: as deployed, a message that failed comes again after half an hour. */
const visibilitySecs = '2';

/** What nobody can do anything with ends where somebody looks: a message in the run queue, and a tick. */
export async function checkDeadLetters(
  report: Report,
  aws: AwsCalls,
  stack: DeployedStack,
  { dispatchAsync }: Dispatcher,
): Promise<void> {
  const queueOf = (name: string) => queueCalls(aws, output(stack, name));
  const runs = queueOf('RunQueueUrl');
  const poison = `{"poison":"${Date.now()}"}`;
  const time = new Date().toISOString();
  const lostTick = { agent: 'nobody', action: 'visit', schedule: 'never', time };

  const deployed = await runs.visibilitySecs();
  await runs.setVisibilitySecs(visibilitySecs);
  try {
    await dispatchAsync(lostTick);
    await runs.send(poison);
    const deadRuns = queueOf('RunDeadLettersUrl');
    const messages = await until(() => nonEmpty(deadRuns.bodies()), patienceMs);
    report.check(
      'a message that is not ours ends in the dead-letter queue of runs, as it was, and no other does',
      messages?.join() === poison,
      JSON.stringify(messages ?? 'it is empty'),
    );
  } finally {
    await runs.setVisibilitySecs(deployed);
  }

  const ticks = await until(() => nonEmpty(queueOf('TickDeadLettersUrl').bodies()), patienceMs);
  const payloads = ticks?.map((body) => JSON.stringify(JSON.parse(body).requestPayload));
  report.check(
    'a tick of an agent that is not there ends in the dead-letter queue of ticks, and no other does',
    payloads?.join() === JSON.stringify(lostTick),
    JSON.stringify(ticks ?? 'it is empty'),
  );
}

async function nonEmpty(bodies: Promise<string[]>): Promise<string[] | undefined> {
  const found = await bodies;
  return found.length > 0 ? found : undefined;
}
