import { createHash } from 'node:crypto';

/** What names of EventBridge end at. */
const nameMaxChars = 64;
const prefixMaxChars = 24;

/**
 * What the names of a stack's rules begin with. It ends with a character that no stack's name has, so that no other
 * stack's rules begin with it too.
 */
export function tickNamePrefix(stackName: string): string {
  const fits = stackName.length <= prefixMaxChars;
  return `${fits ? stackName : `${stackName.slice(0, prefixMaxChars - 9)}-${digest(stackName, 8)}`}_`;
}

/** The name of one expression of a schedule: the same at every deployment, and no other's. Its end decides, the rest is for readers. */
export function tickName(
  stackName: string,
  tick: { agent: string; schedule: string; index: number },
): string {
  const { agent, schedule, index } = tick;
  const end = `_${digest(JSON.stringify([agent, schedule, index]), 12)}`;
  const begin = `${tickNamePrefix(stackName)}${agent}_${schedule}`;
  return begin.slice(0, nameMaxChars - end.length) + end;
}

function digest(text: string, chars: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, chars);
}
