/** Why a role allows what no call of the suite is seen to need. */
export interface ExplainedGrant {
  /** A function, or every one. */
  readonly fn: string;
  readonly action: string;
  readonly reason: string;
}

const ownLog =
  'Lambda writes the log with the role of the function (seen in its log group), and the emulator without it';

export const explainedGrants: readonly ExplainedGrant[] = [
  { fn: 'every', action: 'logs:CreateLogStream', reason: ownLog },
  { fn: 'every', action: 'logs:PutLogEvents', reason: ownLog },
  {
    fn: 'Remember',
    action: 'dynamodb:DeleteItem',
    reason:
      'Chunk rows are taken back where two writers store large messages under one id and both have announced theirs before one commits',
  },
];
