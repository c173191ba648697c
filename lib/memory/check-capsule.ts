import { InvalidInputError } from '../errors.ts';
import { checkFields, checkName, fieldsOf } from '../input.ts';
import type { NewCapsule } from './agent-memory.ts';
import type { Capsule } from './message.ts';
import { checkMetadata } from './message-codec.ts';
import { parseTimestamp } from './timestamp.ts';

/** One that was read, or exported, is taken as it is: its `createdAt` becomes the time at which it is stored. */
const capsuleFields = fieldsOf<Capsule>()({
  ...{ id: 1, summary: 1, from: 1, to: 1, messageCount: 1, messageIds: 1, sourceIds: 1 },
  ...{ previousId: 1, horizon: 1, createdAt: 1, metadata: 1 },
});

/**
 * What is stored of a capsule, as it is at the call. One that somebody put together by hand must be found by whoever
 * forgets what it holds: by its time, its messages, its sources, the capsule before.
 *
 * @throws InvalidInputError naming the field
 */
export function checkCapsule(given: NewCapsule): Omit<Capsule, 'id' | 'createdAt'> {
  checkFields('capsule', given, capsuleFields);
  const { summary, messageCount, previousId = null, metadata = {}, horizon } = given;
  if (summary === undefined) throw new InvalidInputError('capsule.summary', 'is missing');
  const [from, to] = [timeOf(given.from, 'capsule.from'), timeOf(given.to, 'capsule.to')];
  if (from > to) throw new InvalidInputError('capsule.from', 'is after capsule.to');
  if (!isCount(messageCount)) throw new InvalidInputError('capsule.messageCount', 'must be a whole number');
  if (horizon !== undefined && !isCount(horizon))
    throw new InvalidInputError('capsule.horizon', 'must be a whole number');
  checkMetadata('capsule.metadata', metadata);
  return {
    ...{ summary, from, to, messageCount },
    messageIds: listOf(given.messageIds, 'capsule.messageIds', checkName),
    sourceIds: listOf(given.sourceIds, 'capsule.sourceIds', checkSourceId),
    previousId: previousId === null ? null : checkName('capsule.previousId', previousId),
    metadata,
    ...(horizon === undefined ? {} : { horizon }),
  };
}

/** A source is found by comparing: unlike a name it stands in no key, and a long URL is one. */
export function checkSourceId(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new InvalidInputError(field, 'must be a non-empty string');
  return value;
}

/** In UTC, where times sort as text. */
function timeOf(value: unknown, field: string): string {
  return new Date(parseTimestamp(value, field)).toISOString();
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function listOf(
  given: unknown,
  field: string,
  check: (field: string, value: unknown) => string,
): readonly string[] {
  if (!Array.isArray(given)) throw new InvalidInputError(field, 'must be an array');
  return Array.from(given, (value: unknown, index) => check(`${field}[${index}]`, value));
}
