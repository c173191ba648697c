import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { InvalidInputError } from '../../lib/errors.ts';
import { parseTimestamp } from '../../lib/memory/timestamp.ts';

/** One firing of a schedule. */
export interface Tick {
  readonly agent: string;
  readonly action: string;
  readonly schedule: string;
  readonly at: Date;
}

const minuteMs = 60_000;

/**
 * The tick of `{agent, action, schedule, time}`, as rules and schedules send it: `time` is when it was due (ISO 8601).
 * Cron knows no seconds, so that its ticks are told apart by the minute: the two rules of one schedule, or two deliveries,
 * may differ by less. A rate begins at any second, and keeps it.
 *
 * @throws InvalidInputError naming the field
 */
export function parseTick(event: unknown, agents: ReadonlyMap<string, AgentDefinition>): Tick {
  const { agent, action, schedule, time } = (event ?? {}) as Readonly<Record<string, unknown>>;
  const named = {
    agent: text('agent', agent),
    action: text('action', action),
    schedule: text('schedule', schedule),
  };
  const at = parseTimestamp(text('time', time), 'time');
  const descriptor = agents.get(named.agent)?.schedules?.find(({ name }) => name === named.schedule);
  const isRate = descriptor?.cron.trim().startsWith('rate(') ?? false;
  return { ...named, at: new Date(isRate ? at : at - (at % minuteMs)) };
}

function text(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new InvalidInputError(field, 'must be a non-empty string');
  return value;
}
