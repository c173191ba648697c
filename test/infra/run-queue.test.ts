import { describe, expect, test } from 'vitest';
import { nameOf } from '../../infra/rehearsal/grants.ts';
import { serviceFunctions } from '../../infra/service-functions.ts';
import { runLeaseSecs, runReceiveLimit, sessionShards } from '../../lib/defaults.ts';
import { resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const { template } = synthesizedStack();
const queues = new Map(
  Object.entries(resourcesOf(template, 'AWS::SQS::Queue')).map(([id, queue]) => [nameOf(id), queue]),
);
const workerTimeoutSecs = serviceFunctions.work.timeoutSecs ?? Number.NaN;

describe('the queue of runs', () => {
  const runQueue = queues.get('RunQueue')?.Properties;

  test('hides a message for six times as long as a worker may have it', () => {
    expect(runQueue?.VisibilityTimeout).toBeGreaterThanOrEqual(6 * workerTimeoutSecs);
  });

  test('brings the message of a worker that died back before its run would be taken for dead', () => {
    expect(runQueue?.VisibilityTimeout).toBeLessThan(runLeaseSecs);
  });

  test('dead-letters a message after as many failures as the worker counts', () => {
    const [deadLettersId] = runQueue?.RedrivePolicy.deadLetterTargetArn['Fn::GetAtt'] ?? [];

    expect(nameOf(deadLettersId)).toBe('RunDeadLetters');
    expect(runQueue?.RedrivePolicy.maxReceiveCount).toBe(runReceiveLimit);
  });

  test('is delivered one message at a time to several workers, which name what failed', () => {
    const mappings = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping'));

    expect(mappings.map(({ Properties }) => Properties)).toEqual([
      {
        EventSourceArn: { 'Fn::GetAtt': [expect.stringMatching(/^RunQueue[0-9A-F]{8}$/), 'Arn'] },
        FunctionName: { Ref: expect.stringMatching(/^Work[0-9A-F]{8}$/) },
        BatchSize: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: sessionShards },
      },
    ]);
    expect(sessionShards).toBeGreaterThanOrEqual(2);
  });
});

describe('the queues', () => {
  test('are the one of runs, and two for what failed', () => {
    expect([...queues.keys()].toSorted()).toEqual(['RunDeadLetters', 'RunQueue', 'TickDeadLetters']);
  });

  test.each([...queues.keys()])('%s is encrypted, and refuses what comes without TLS', (name) => {
    const policies = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy'));
    const own = policies.filter(({ Properties }) => nameOf(Properties.Queues[0].Ref) === name);

    expect(queues.get(name)?.Properties.SqsManagedSseEnabled).toBe(true);
    expect(own[0]?.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Deny',
        Action: 'sqs:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
  });

  test.each(['RunDeadLetters', 'TickDeadLetters'])('%s keeps messages as long as SQS can', (name) => {
    expect(queues.get(name)?.Properties.MessageRetentionPeriod).toBe(14 * 24 * 60 * 60);
  });
});
