import { expect, test } from 'vitest';
import { TooManyRunsError, UnknownActionError } from '../../../lib/runs/run-error.ts';

test('an action that is not there is answered with those that are, the most similar one first', () => {
  const error = new UnknownActionError('support', 'Digets', ['prune-raw-memory', 'digest', 'tidy']);

  expect(error).toMatchObject({ action: 'Digets', actions: ['digest', 'tidy', 'prune-raw-memory'] });
  expect(error.message).toMatch(/"Digets": it has "digest", "tidy", "prune-raw-memory"$/);
});

test('of many actions ten are named, and the others counted', () => {
  const actions = Array.from({ length: 12 }, (_, index) => `action-${index}`);

  const { message } = new UnknownActionError('support', 'x', actions);
  expect(message.match(/"action-\d+"/g)).toHaveLength(10);
  expect(message).toMatch(/ and 2 more$/);
  expect(new UnknownActionError('support', 'x', actions.slice(0, 10)).message).not.toContain('more');
});

test('an agent without a definition has no actions', () => {
  const error = new UnknownActionError('nobody', 'digest', undefined);

  expect(error.actions).toEqual([]);
  expect(error.message).toContain('not defined');
});

test('too many runs are a reason to ask again later', () => {
  expect(new TooManyRunsError(50).retryable).toBe(true);
});
