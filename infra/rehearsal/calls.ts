import { createHash } from 'node:crypto';
import type { AwsCalls } from './aws-calls.ts';

/** How often one set of credentials called one action on one resource. */
export interface Calls {
  readonly accessKey: string;
  readonly action: string;
  /** A physical name: `table`, `table/index/name`, `queue`, `secret`. */
  readonly resource: string;
  readonly count: number;
}

interface TrailEvent {
  readonly EventId: string;
  readonly EventName: string;
  readonly EventSource: string;
  readonly EventTime: number;
  readonly AccessKeyId: string;
  readonly Resources: readonly { readonly ResourceName: string }[];
  readonly CloudTrailEvent: string;
}

const pageSize = 50;

/** Every call to a service that CloudTrail has recorded, which is every call that was not refused. */
export async function recordedCalls(aws: AwsCalls, service: string): Promise<Calls[]> {
  const seen = new Set<string>();
  const calls = new Map<string, Calls>();
  // The emulator gives no NextToken: the next page is what happened up to the oldest event of this one.
  let until: number | undefined;
  for (;;) {
    const events = await lookUp(aws, service, until);
    const fresh = events.filter(({ EventId }) => !seen.has(EventId));
    for (const event of fresh) {
      seen.add(event.EventId);
      const call = { accessKey: event.AccessKeyId, action: actionOf(event), resource: resourceOf(event) };
      const id = JSON.stringify(call);
      calls.set(id, { ...call, count: (calls.get(id)?.count ?? 0) + 1 });
    }
    until = events.at(-1)?.EventTime;
    if (events.length < pageSize || fresh.length === 0) return [...calls.values()];
  }
}

async function lookUp(aws: AwsCalls, service: string, until: number | undefined): Promise<TrailEvent[]> {
  const answer = await aws.json('cloudtrail', 'CloudTrail_20131101.LookupEvents', {
    LookupAttributes: [{ AttributeKey: 'EventSource', AttributeValue: `${service}.amazonaws.com` }],
    MaxResults: pageSize,
    ...(until !== undefined && { EndTime: until }),
  });
  return (answer as { Events: TrailEvent[] }).Events;
}

/** The action that IAM knows the call as: it knows no batches of SQS. */
function actionOf({ EventSource, EventName }: TrailEvent): string {
  const service = EventSource.split('.')[0];
  return `${service}:${service === 'sqs' ? EventName.replace(/Batch$/, '') : EventName}`;
}

function resourceOf({ Resources, CloudTrailEvent }: TrailEvent): string {
  const { requestParameters } = JSON.parse(CloudTrailEvent);
  const { RequestItems = {}, QueueUrl, SecretId } = requestParameters ?? {};
  const queue = QueueUrl?.split('/').at(-1);
  const name = Resources[0]?.ResourceName ?? queue ?? SecretId ?? Object.keys(RequestItems)[0] ?? '*';
  return requestParameters?.IndexName === undefined ? name : `${name}/index/${requestParameters.IndexName}`;
}

/**
 * The access key under which the emulator runs a function: it derives it from the two ARNs and nowhere tells it.
 * Should a new version do otherwise, no call would be anybody's, and the comparison fails.
 */
export function accessKeyOf(functionArn: string, roleArn: string): string {
  const digest = createHash('sha256').update(`${functionArn}:${roleArn}`).digest('hex');
  return `ASIA${digest.slice(0, 16).toUpperCase()}`;
}

/** Requests to a service that reached the emulator, refused ones included, from its log. */
export function countRequests(log: string, service: string): number {
  return log.split('\n').filter((line) => line.includes(` -> service=${service} `)).length;
}
