import { markerSecs } from '../../../lib/defaults.ts';
import type { Moment } from '../../../lib/memory/memory-store.ts';
import type { AgentRuntime } from '../../../lib/runtime/agent-runtime.ts';
import { HttpError } from '../http-error.ts';
import { encodeCursor, placeIn } from '../paging.ts';

/** A moment of a session as opaque text, which is taken for a day: longer than that is not known what was forgotten. */
export function encodeMoment(runtime: AgentRuntime, session: string, moment: Moment): string {
  const { arrivals, forgets } = moment;
  return encodeCursor(listOf(runtime, session), JSON.stringify([arrivals, forgets, runtime.nowEpochSecs()]));
}

export function decodeMoment(runtime: AgentRuntime, session: string, text: unknown): Moment {
  const place = typeof text === 'string' ? placeIn(listOf(runtime, session), text) : undefined;
  const [arrivals, forgets, readAt] = place === undefined ? [] : JSON.parse(place);
  if (readAt === undefined)
    throw new HttpError(
      'invalid_request',
      'moment is damaged, or belongs to another session: send it as it came with the messages that were due',
    );
  if (readAt + markerSecs <= runtime.nowEpochSecs())
    throw new HttpError('overtaken', 'the messages were read more than a day ago: read what is due again');
  return { arrivals, forgets };
}

function listOf({ agent }: AgentRuntime, session: string): readonly string[] {
  return ['moment', agent, session];
}
