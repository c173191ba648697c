import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AwsCalls } from './aws-calls.ts';
import { accessKeyOf, type Calls, countRequests, recordedCalls } from './calls.ts';
import { compareGrants, type FunctionCalls, type GrantVerdict } from './compare-grants.ts';
import type { Emulator } from './emulator.ts';
import { explainedGrants } from './explained-grants.ts';
import { functionsOf, grantsOf, nameOf } from './grants.ts';
import { type Report, table } from './report.ts';
import { physicalNames } from './stack-resources.ts';
import type { DeployedStack, Template } from './template.ts';
import { until } from './until.ts';

/** The services that functions may be granted something of. */
const services = ['dynamodb', 'sqs', 'scheduler', 'events', 'secretsmanager'];

/**
 * Compares, function by function, what the roles grant with what was called.
 *
 * @param toBeRefused calls of each service that were made without a grant on purpose
 */
export async function checkGrants(
  report: Report,
  aws: AwsCalls,
  emulator: Emulator,
  stack: DeployedStack,
  toBeRefused: CallsByService,
): Promise<void> {
  const names = await physicalNames(aws, stack.name);
  const functions = await functionsByAccessKey(aws, stack.template, names);
  const { calls, arrived } = await callsSoFar(aws, emulator);
  const ofFunctions = calls.flatMap((call): FunctionCalls[] => {
    const fn = functions.get(call.accessKey);
    return fn === undefined ? [] : [{ ...call, fn }];
  });
  const physicalName = (id: string) => withoutUrl(names.get(id) ?? `{${id}}`);
  const { grants, uncovered, stale } = compareGrants(
    grantsOf(stack.template),
    ofFunctions,
    explainedGrants,
    physicalName,
  );
  console.log(table([heading, ...grants.map(row)]));
  for (const reason of reasonsOf(grants)) console.log(`   ${reason}`);

  for (const [fn, ofFunction] of groupByFunction(grants)) {
    const unused = ofFunction.filter(({ verdict }) => verdict === 'unused');
    const listed = unused.map(({ action, resource }) => `${action} on ${resource}`).join(', ');
    report.check(
      `${fn} needs all it is granted`,
      unused.length === 0,
      `neither used nor explained: ${listed}`,
    );
  }
  report.check('no function called what it is not granted', uncovered.length === 0, describe(uncovered));
  const staleLines = stale.map(({ fn, action }) => `${fn} ${action}`).join(', ');
  report.check('every explained grant is granted', stale.length === 0, staleLines);
  checkRefusals(report, calls, arrived, toBeRefused);
}

export type CallsByService = Readonly<Record<string, number>>;

/**
 * A refused call is the one kind that CloudTrail does not have, so what arrived and what was recorded must be equally
 * many. The functions' own logs would not do: a clean-up that fails is silent, and left to the next writer.
 */
function checkRefusals(
  report: Report,
  calls: readonly Calls[],
  arrived: CallsByService,
  toBeRefused: CallsByService,
): void {
  for (const [service, count] of Object.entries(arrived)) {
    if (count === 0) continue;
    const refused = count - countOf(service, calls);
    const wanted = toBeRefused[service] ?? 0;
    const title = `of ${count} calls of ${service}, ${wanted || 'none'} was refused`;
    report.check(title, refused === wanted, `${refused} were, for want of a grant`);
  }
}

const isQuietWithinMs = 90_000;

/** What was recorded while nothing arrived: each minute the schedules have workers make calls. */
async function callsSoFar(
  aws: AwsCalls,
  emulator: Emulator,
): Promise<{ calls: readonly Calls[]; arrived: CallsByService }> {
  const found = await until(async () => {
    const before = await arrivedAt(emulator);
    const calls = (await Promise.all(services.map((service) => recordedCalls(aws, service)))).flat();
    const arrived = await arrivedAt(emulator);
    // The emulator's log may be a little behind what it tells of.
    const isWhole = services.every((service) => (arrived[service] ?? 0) >= countOf(service, calls));
    return isWhole && isDeepStrictEqual(before, arrived) ? { calls, arrived } : undefined;
  }, isQuietWithinMs);
  if (found === undefined) throw new Error('the functions never stopped calling');
  return found;
}

async function arrivedAt({ logFile }: Emulator): Promise<CallsByService> {
  const log = await readFile(logFile, 'utf8');
  return Object.fromEntries(services.map((service) => [service, countRequests(log, service)]));
}

function countOf(service: string, calls: readonly Calls[]): number {
  const ofService = calls.filter(({ action }) => action.startsWith(`${service}:`));
  return ofService.reduce((sum, { count }) => sum + count, 0);
}

/** A queue's id is its URL, which ends with its name. */
function withoutUrl(id: string): string {
  return /^https?:/.test(id) ? (id.split('/').at(-1) ?? id) : id;
}

function groupByFunction(grants: readonly GrantVerdict[]): Map<string, GrantVerdict[]> {
  const groups = new Map<string, GrantVerdict[]>();
  for (const grant of grants) groups.set(grant.fn, [...(groups.get(grant.fn) ?? []), grant]);
  return groups;
}

async function functionsByAccessKey(
  aws: AwsCalls,
  template: Template,
  names: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const { Functions } = JSON.parse(await aws.rest('lambda', 'GET', '/2015-03-31/functions/')) as {
    Functions: { FunctionName: string; FunctionArn: string; Role: string }[];
  };
  const byName = new Map(Functions.map((deployed) => [deployed.FunctionName, deployed]));
  return new Map(
    functionsOf(template).map(([id]) => {
      const deployed = byName.get(names.get(id) ?? '');
      if (deployed === undefined) throw new Error(`the function ${id} was not deployed`);
      return [accessKeyOf(deployed.FunctionArn, deployed.Role), nameOf(id)];
    }),
  );
}

const heading = ['function', 'action', 'resource', 'calls', 'verdict'];

function row({ fn, action, resource, calls, verdict }: GrantVerdict): string[] {
  return [fn, action, resource, String(calls), verdict];
}

function reasonsOf(grants: readonly GrantVerdict[]): Set<string> {
  const explained = grants.filter(({ verdict }) => verdict === 'explained');
  return new Set(explained.map(({ action, reason }) => `${action}: ${reason}`));
}

function describe(calls: readonly FunctionCalls[]): string {
  return calls.map(({ fn, action, resource }) => `${fn} ${action} on ${resource}`).join(', ');
}
