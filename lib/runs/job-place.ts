import { sessionShards } from '../defaults.ts';
import { InvalidInputError } from '../errors.ts';
import { isRunId } from './run-id.ts';

/** A place in the list of a run's jobs: the index of a job in a page of a shard. */
export interface JobPlace {
  readonly shard: number;
  readonly page: number;
  readonly index: number;
}

/** @throws InvalidInputError when the text is no place */
export function parseJobPlace(after: string | undefined): JobPlace | undefined {
  if (after === undefined) return undefined;
  const none = Number.NaN;
  const numbers = /^(\d{1,2})\/(\d{1,9})\/(\d{1,6})$/.exec(after)?.slice(1).map(Number);
  const [shard = none, page = none, index = none] = numbers ?? [];
  if (!(shard < sessionShards)) throw new InvalidInputError('after', 'the list cannot go on from there');
  return { shard, page, index };
}

export function formatJobPlace({ shard, page, index }: JobPlace): string {
  return `${shard}/${page}/${index}`;
}

/** @throws InvalidInputError when the text is no run's id */
export function checkRunPlace(after: string | undefined): string | undefined {
  if (after !== undefined && !isRunId(after))
    throw new InvalidInputError('after', 'the list cannot go on from there');
  return after;
}
