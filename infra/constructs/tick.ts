import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { toEventBridge } from '../../lib/schedules/to-event-bridge.ts';
import type { AgentSchedule } from '../agent-schedules.ts';
import type { ServiceFunction } from './service-function.ts';

/** One expression of a schedule, and so one rule, or one schedule of EventBridge Scheduler. */
export interface Tick {
  readonly agent: string;
  readonly schedule: string;
  readonly action: string;
  /** Of the schedule's expressions, this one: several together are one schedule, whose ticks bear its name. */
  readonly index: number;
  readonly expression: string;
  readonly service: 'rules' | 'scheduler';
  /** Unset: UTC. */
  readonly timezone: string | undefined;
}

/** Where ticks go, and where those go that cannot be delivered or dispatched. */
export interface TickTargets {
  readonly dispatcher: ServiceFunction;
  readonly deadLetters: Queue;
}

export function ticksOf({ agent, descriptor }: AgentSchedule): Tick[] {
  const { name: schedule, action, timezone } = descriptor;
  const { expressions, service } = toEventBridge(descriptor);
  return expressions.map((expression, index) => ({
    ...{ agent, schedule, action, index, expression, service, timezone },
  }));
}

/** Unique within a stack: neither agents nor schedules have a `~` in their names. */
export function tickId({ agent, schedule, index }: Tick): string {
  return `${agent}~${schedule}~${index}`;
}

/**
 * How long, and how often, a tick that cannot be delivered or dispatched is tried before it is dead-lettered. A run that is
 * late does its work all the same; and 6 hours are the most that Lambda keeps an event.
 */
export const tickMaxAge = Duration.hours(6);
export const tickDeliveryRetries = 185;

/**
 * What the dispatcher is given, as a template in which EventBridge puts the time at which the tick was due.
 *
 * @param time the placeholder, as JSON
 */
export function tickInput({ agent, action, schedule }: Tick, time: string): string {
  // An action may have any name: in none of it does EventBridge see a placeholder.
  const named = JSON.stringify({ agent, action, schedule }).replace(/[<>]/g, (bracket) =>
    bracket === '<' ? '\\u003c' : '\\u003e',
  );
  return `${named.slice(0, -1)},"time":${time}}`;
}
