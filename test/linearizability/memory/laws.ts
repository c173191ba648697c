import type { Violation } from '../faulty-writers.ts';
import { summarisedTwice, unexplainedCapsules } from './capsules.ts';
import { historyOf, type Operation, type SourceOf } from './history.ts';
import { lostMessages, unexplainedMessages } from './messages.ts';
import { disorder } from './order.ts';
import { isRegister, isSessionRegister, type ValueCall } from './values.ts';

/** What was done to a session: to its messages and capsules, and to each key of its values. */
export interface SessionHistory {
  readonly operations: readonly Operation[];
  readonly values: Readonly<Record<string, readonly ValueCall[]>>;
}

export function violationsOf(key: string, session: SessionHistory, sourceOf: SourceOf): Violation[] {
  const { operations, values } = session;
  const history = historyOf(operations, sourceOf);
  const ofMessages = [
    ...unexplainedMessages(history).map((id) => `no order explains what became of ${id}`),
    ...lostMessages(history).map((id) => `${id} was accepted and is lost`),
    ...unexplainedCapsules(history).map((name) => `no order explains what became of the capsule ${name}`),
    ...summarisedTwice(history).map((id) => `${id} is in two capsules`),
    ...disorder(history),
  ].map((law) => ({ key, law, history: operations }));
  const ofValues = Object.entries(values)
    .filter(([name, calls]) => !(name.startsWith('user ') ? isSessionRegister(calls) : isRegister(calls)))
    .map(([name, calls]) => ({ key, law: `no order explains the values of ${name}`, history: calls }));
  return [...ofMessages, ...ofValues];
}
