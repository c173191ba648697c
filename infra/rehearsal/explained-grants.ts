/** Why a role allows what no call of the suite is seen to need. */
export interface ExplainedGrant {
  /** A function, or every one. */
  readonly fn: string;
  readonly action: string;
  /** The only resource that this is about, as `nameOf` its logical id. */
  readonly resource?: string;
  readonly reason: string;
}

const ownLog =
  'Lambda writes the log with the role of the function (seen in its log group), and the emulator without it';
const delivery =
  'Lambda takes messages from the queue with the role of the function (seen in the runs that complete), and the emulator without it';

const leftLease =
  'The lease of a run that has ended is taken away for the next one, where the worker that ended it died before it did so';
const trimmed =
  'What has rolled out of the error log is looked for and deleted by one failure in 32, by chance';

export const explainedGrants: readonly ExplainedGrant[] = [
  { fn: 'every', action: 'logs:CreateLogStream', reason: ownLog },
  { fn: 'every', action: 'logs:PutLogEvents', reason: ownLog },
  { fn: 'Work', action: 'sqs:ReceiveMessage', reason: delivery },
  { fn: 'Work', action: 'sqs:DeleteMessage', reason: delivery },
  { fn: 'Work', action: 'sqs:GetQueueAttributes', reason: delivery },
  {
    fn: 'Dispatch',
    action: 'sqs:SendMessage',
    resource: 'TickDeadLetters',
    reason:
      'Lambda sets a tick aside with the role of the function (seen in the dead-letter queue), and the emulator without it',
  },
  { fn: 'RunsApi', action: 'dynamodb:DeleteItem', resource: 'RunsTable', reason: leftLease },
  { fn: 'Dispatch', action: 'dynamodb:DeleteItem', resource: 'RunsTable', reason: leftLease },
  {
    fn: 'Work',
    action: 'dynamodb:PutItem',
    resource: 'SessionsTable',
    reason: 'An action may set user data, learn, or store a large capsule: no action here does',
  },
  { fn: 'Work', action: 'dynamodb:Query', resource: 'ErrorsTable', reason: trimmed },
  { fn: 'Work', action: 'dynamodb:DeleteItem', resource: 'ErrorsTable', reason: trimmed },
  {
    fn: 'Work',
    action: 'dynamodb:DeleteItem',
    resource: 'SessionsTable',
    reason: 'An action may forget user data and knowledge: no action here does',
  },
];
