import { describe, expect, test } from 'vitest';
import { serviceFunctions } from '../../infra/service-functions.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import { resourcesOf, synthesizedStack } from './synthesized-stack.ts';

const { stack, template } = synthesizedStack();
const [dashboard] = Object.values(resourcesOf(template, 'AWS::CloudWatch::Dashboard'));
const body = JSON.stringify(dashboard?.Properties.DashboardBody).replaceAll('\\', '');

describe('the dashboard', () => {
  test.each([
    'RunsCompleted',
    'RunsFailed',
    'RunsSkipped',
    'RunDuration',
    'SessionsOk',
    'SessionsFailed',
    'HibernateBytes',
  ])('shows %s as the functions count it', (name) => {
    expect(body).toContain(`["${stack.stackName}","${name}","service","dormouse"`);
  });

  test.each(['RunQueue', 'RunDeadLetters', 'TickDeadLetters'])('shows how full %s is', (name) => {
    expect(body).toMatch(
      new RegExp(`"ApproximateNumberOfMessagesVisible","QueueName","[^\\]]*"${name}[0-9A-F]{8}`),
    );
  });

  test('shows the API, its 5xx and how long it takes', () => {
    for (const metric of ['Count', '4xx', '5xx', 'Latency'])
      expect(body).toContain(`"AWS/ApiGateway","${metric}"`);
    expect(body).toContain('ApproximateAgeOfOldestMessage');
  });

  test.each(Object.values(serviceFunctions))('shows errors, throttles and durations of $id', ({ id }) => {
    for (const metric of ['Errors', 'Throttles', 'Duration']) {
      expect(body).toMatch(new RegExp(`"${metric}","FunctionName","[^\\]]*"${id}[0-9A-F]{8}`));
    }
  });

  test.each(tables)('shows the throttles of the table $id', ({ id }) => {
    for (const metric of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
      expect(body).toMatch(new RegExp(`"${metric}","TableName","[^\\]]*"${id}Table"`));
    }
  });
});
