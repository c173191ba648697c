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
  {
    fn: 'Remember',
    action: 'dynamodb:DeleteItem',
    reason:
      'Chunk rows are taken back where two writers store large messages under one id and both have announced theirs before one commits',
  },
];
