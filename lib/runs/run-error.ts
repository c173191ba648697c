import { DormouseError } from '../errors.ts';

/** The agent has no definition, or no action of this name. Nothing was started. */
export class UnknownActionError extends DormouseError {
  readonly code = 'unknown_action';

  constructor(agent: string, action: string) {
    super(`the agent '${agent}' has no action ${JSON.stringify(action)}`);
  }
}

/** A message of the queue is not one of ours: delivering it again cannot help. */
export class InvalidRunMessageError extends DormouseError {
  readonly code = 'invalid_run_message';
}

/** Another worker has the same message and was faster. The message must come again: that worker may yet die. */
export class ShardTakenError extends DormouseError {
  readonly code = 'shard_taken';
  override readonly retryable = true;

  constructor(runId: string, shard: number) {
    super(`another worker is at shard ${shard} of run ${runId}`);
  }
}

/** There is no run of this id (any more). */
export class RunNotFoundError extends DormouseError {
  readonly code = 'run_not_found';

  constructor(runId: string) {
    super(`there is no run ${runId}`);
  }
}
