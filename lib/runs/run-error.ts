import { distance } from 'fastest-levenshtein';
import { DormouseError } from '../errors.ts';

/** The agent has no definition, or no action of this name. Nothing was started. */
export class UnknownActionError extends DormouseError {
  readonly code = 'unknown_action';
  readonly action: string;
  /** Those that the agent has, the most similar to the wanted one first. */
  readonly actions: readonly string[];

  /** @param actions those that the agent has; undefined where it is not defined */
  constructor(agent: string, action: string, actions: readonly string[] | undefined) {
    const near = nearestFirst(action, actions ?? []);
    const instead = actions === undefined ? 'it is not defined' : `it has ${listed(near)}`;
    super(`the agent '${agent}' has no action ${JSON.stringify(action)}: ${instead}`);
    this.action = action;
    this.actions = near;
  }
}

function nearestFirst(wanted: string, names: readonly string[]): readonly string[] {
  const far = (name: string) => distance(wanted.toLowerCase(), name.toLowerCase());
  return names
    .map((name) => ({ name, far: far(name) }))
    .sort((a, b) => a.far - b.far)
    .map(({ name }) => name);
}

/** An agent may have many. */
function listed(names: readonly string[]): string {
  const most = 10;
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return (
    names
      .slice(0, most)
      .map((name) => JSON.stringify(name))
      .join(', ') + more
  );
}

/** So many requested runs of the agent are under way already. Nothing was started: ask again when one has ended. */
export class TooManyRunsError extends DormouseError {
  readonly code = 'too_many_runs';
  override readonly retryable = true;

  constructor(max: number) {
    super(`${max} requested runs of the agent are under way: ask again when one of them has ended`);
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
