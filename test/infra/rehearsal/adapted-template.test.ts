import { describe, expect, test } from 'vitest';
import { withBatchAction } from '../../../infra/rehearsal/batch-action.ts';
import { withFewWorkers } from '../../../infra/rehearsal/few-workers.ts';
import { grantsOf } from '../../../infra/rehearsal/grants.ts';
import { withoutLeftOut } from '../../../infra/rehearsal/left-out.ts';
import { withTimeOfEvent } from '../../../infra/rehearsal/scheduled-time.ts';
import { withoutTlsDemand } from '../../../infra/rehearsal/without-tls.ts';

test('what the emulator refuses is taken out of the template, and named', () => {
  const metric = { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } };
  const sum = { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics: [] } };

  const { template, lines } = withoutLeftOut({ Resources: { Metric: metric, Sum: sum } });

  expect(template).toEqual({ Resources: { Metric: metric } });
  expect(lines).toEqual([expect.stringMatching(/^left out: Sum .*not supported/)]);
});

describe('a policy of a queue', () => {
  const tls = { Effect: 'Deny', Action: 'sqs:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
  const rules = { Effect: 'Allow', Action: 'sqs:SendMessage', Condition: { ArnLike: {} } };
  const policy = (...Statement: object[]) => ({
    Type: 'AWS::SQS::QueuePolicy',
    Properties: { Queues: ['q'], PolicyDocument: { Version: '2012-10-17', Statement } },
  });

  test('loses only the statement that refuses requests without TLS, and says so', () => {
    const { template, lines } = withoutTlsDemand({ Resources: { Policy: policy(tls, rules) } });

    expect(template.Resources).toEqual({ Policy: policy(rules) });
    expect(lines).toEqual([expect.stringContaining('Policy does not demand TLS')]);
  });

  test('goes where nothing else is in it', () => {
    expect(withoutTlsDemand({ Resources: { Policy: policy(tls) } }).template.Resources).toEqual({});
  });

  test('stays as it is where it refuses something else, and so does one of a bucket', () => {
    const other = policy({ ...tls, Condition: { Bool: { 'aws:SecureTransport': 'false' }, ArnLike: {} } });
    const bucket = { ...policy(tls), Type: 'AWS::S3::BucketPolicy' };

    const { template, lines } = withoutTlsDemand({ Resources: { Other: other, Bucket: bucket } });

    expect(template.Resources).toEqual({ Other: other, Bucket: bucket });
    expect(lines).toEqual([]);
  });
});

describe('a schedule of Scheduler', () => {
  const schedule = (target: object) => ({
    Type: 'AWS::Scheduler::Schedule',
    Properties: { Name: 'n', Target: { Arn: 'a', ...target } },
  });

  test('has its time from a transformer, in the same event', () => {
    const Input = '{"agent":"a\\u003cb","time":"<aws.scheduler.scheduled-time>"}';

    const { template, lines } = withTimeOfEvent({ Resources: { Tick: schedule({ Input }) } });

    const InputTransformer = {
      InputPathsMap: { time: '$.time' },
      InputTemplate: '{"agent":"a\\u003cb","time":<time>}',
    };
    expect(template.Resources).toEqual({ Tick: schedule({ InputTransformer }) });
    expect(lines).toEqual([expect.stringContaining('Tick has its time from a transformer')]);
  });

  test('stays as it is where its event has no time', () => {
    const resources = { Tick: schedule({ Input: '{}' }), Queue: { Type: 'AWS::SQS::Queue' } };

    expect(withTimeOfEvent({ Resources: resources })).toEqual({
      template: { Resources: resources },
      lines: [],
    });
  });
});

describe('a role that may send messages', () => {
  const withRole = (...Statement: object[]) => ({
    Resources: {
      Dispatch: { Type: 'AWS::Lambda::Function', Properties: { Role: { Ref: 'Role' } } },
      Policy: {
        Type: 'AWS::IAM::Policy',
        Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: { Statement } },
      },
      Role: { Type: 'AWS::IAM::Role' },
    },
  });
  const send = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' };
  const read = { Effect: 'Allow', Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: '*' };

  test('may send them in a batch, too', () => {
    const { template, lines } = withBatchAction(withRole(send, read));

    const both = { ...send, Action: ['sqs:SendMessage', 'sqs:SendMessageBatch'] };
    expect(template).toEqual(withRole(both, read));
    expect(lines).toEqual([expect.stringContaining('Policy also allows sqs:SendMessageBatch')]);
    expect(grantsOf(template)).toEqual(grantsOf(withRole(send, read)));
  });

  test('is the only one that may', () => {
    expect(withBatchAction(withRole(read))).toEqual({ template: withRole(read), lines: [] });
  });
});

test('a queue has two of its messages worked on at a time, and nothing else of its delivery changes', () => {
  const delivery = (MaximumConcurrency: number) => ({
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { BatchSize: 1, ScalingConfig: { MaximumConcurrency } },
  });

  const { template, lines } = withFewWorkers({ Resources: { Delivery: delivery(16) } });

  expect(template.Resources).toEqual({ Delivery: delivery(2) });
  expect(lines).toEqual([expect.stringContaining('Delivery works on 2 messages at a time')]);
});
