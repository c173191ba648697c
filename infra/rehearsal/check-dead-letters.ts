import type { AwsCalls } from './aws-calls.ts';
import type { Dispatcher } from './dispatcher.ts';
import { type QueueCalls, queueCalls } from './queues.ts';
import type { Report } from './report.ts';
import { type DeployedStack, output } from './template.ts';
import { until } from './until.ts';

const patienceMs = 60_000;

/** What nobody can do anything with ends where somebody looks: a message in the run queue, and a tick. */
export async function checkDeadLetters(
  report: Report,
  aws: AwsCalls,
  stack: DeployedStack,
  { dispatchAsync }: Dispatcher,
): Promise<void> {
  const queueOf = (name: string) => queueCalls(aws, output(stack, name));
  const runs = queueOf('RunQueueUrl');
  const deadRuns = queueOf('RunDeadLettersUrl');
  const deadTicks = queueOf('TickDeadLettersUrl');
  const before = [...(await deadRuns.bodies()), ...(await deadTicks.bodies())];
  report.check('nothing is in a dead-letter queue so far', before.length === 0, before.join());

  const poison = `{"poison":"${Date.now()}"}`;
  const lostTick = { agent: 'nobody', action: 'visit', schedule: 'never', time: new Date().toISOString() };
  await dispatchAsync(lostTick);
  await runs.send(poison);
  await expectIn(report, deadRuns, 'a message that is not ours', (body) => body === poison);
  const isLostTick = (body: string) =>
    JSON.stringify(JSON.parse(body).requestPayload) === JSON.stringify(lostTick);
  await expectIn(report, deadTicks, 'a tick of an agent that is not there', isLostTick);
}

async function expectIn(
  report: Report,
  queue: QueueCalls,
  what: string,
  isIt: (body: string) => boolean,
): Promise<void> {
  const found = await until(async () => (await queue.bodies()).find(isIt), patienceMs);
  const title = `${what} ends in a dead-letter queue, as it was`;
  report.check(title, found !== undefined, `there is ${JSON.stringify(await queue.bodies())}`);
}
