import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { type Access, meet, notingClient } from '../../support/accessed-items.ts';
import { type Interruption, interruptedClient } from '../../support/pausing-client.ts';

/** What is interleaved: calls by name, in a world of its own for each interleaving, and the law that holds in it. */
export interface Setting<World> {
  readonly client: DynamoDBClient;
  begin(): Promise<World>;
  /** Makes the call in a process of its own. Resolves what its caller is told: `ok`, or the code of an error. */
  call(name: string, world: World, client: DynamoDBClient): Promise<string>;
  /** What a reader sees. */
  see(world: World): Promise<unknown>;
  /** Throws where the law does not hold, and says in which interleaving (`what`). */
  assertLaw(world: World, what: string): Promise<void>;
  /** As `assertLaw`, when all is over. It may change the world. */
  assertEnd?(world: World, what: string): Promise<void>;
}

export type Pair = readonly [first: string, second: string];

const ofWrites = ['delivered twice', 'answer lost', 'the last one'] as const;

/**
 * Runs the second call whole before each request of the first, and after the last; and at each write of the first that
 * is delivered twice, or loses its answer, or is the last that its process sends, after which its caller makes the call
 * again. Besides the setting's law: a copy of what was applied changes nothing, and nobody is told `unavailable` of
 * whom no answer was lost.
 * Places are passed over behind a request that has nothing to do with what the second call reads or writes there: in
 * either order all is the same.
 */
export async function interleave<World>(
  setting: Setting<World>,
  pair: Pair,
  isMeant: (how: Interruption, pair: Pair) => boolean = () => true,
): Promise<void> {
  const requests = await undisturbed(setting, pair[0]);
  let met: Access[] = [];
  for (let at = 0; at <= requests.length; at++) {
    const before = requests[at - 1];
    if (before !== undefined && !met.some((access) => meet(access, before))) continue;
    met = await interrupt(setting, pair, 'paused', at, requests[at]);
    if (!before?.writes) continue;
    for (const how of ofWrites) if (isMeant(how, pair)) await interrupt(setting, pair, how, at - 1, before);
  }
}

/** What a call asks of the table when nothing comes between. */
async function undisturbed<World>(setting: Setting<World>, name: string): Promise<Access[]> {
  const requests: Access[] = [];
  const noting = notingClient(setting.client, (access) => requests.push(access));
  await setting.call(name, await setting.begin(), noting);
  return requests;
}

/** Resolves what the second call had to do with. */
async function interrupt<World>(
  setting: Setting<World>,
  [first, second]: Pair,
  how: Interruption,
  at: number,
  request: Access | undefined,
): Promise<Access[]> {
  const what = `${first} | ${second}: ${how}, at ${request ? `${at}, ${textOf(request)}` : 'its end'}`;
  const world = await setting.begin();
  const accesses: Access[] = [];
  const noting = notingClient(setting.client, (access) => accesses.push(access));
  const told: Record<string, string> = {};
  const callSecond = async () => {
    told[second] = await setting.call(second, world, noting);
  };
  const seen: unknown[] = [];
  const see = async () => seen.push(await setting.see(world));
  const interrupted = interruptedClient(setting.client, at, how, callSecond, { aroundCopy: see });

  const toldFirst = await setting.call(first, world, interrupted.client);
  if (how === 'the last one' || !interrupted.wasReached()) await callSecond();

  if (how === 'paused' || how === 'delivered twice') told[first] = toldFirst;
  const [beforeCopy, afterCopy] = seen;
  expect(afterCopy, `${what}: its copy changes nothing`).toEqual(beforeCopy);
  await setting.assertLaw(world, what);
  if (how === 'the last one' && toldFirst !== 'ok') {
    told[first] = await setting.call(first, world, setting.client);
    await setting.assertLaw(world, `${what}, and made again`);
  }
  await setting.assertEnd?.(world, what);
  expect(Object.values(told), `${what}: nobody is told that DynamoDB failed`).not.toContain('unavailable');
  return accesses;
}

function textOf({ name, partition, item = '*' }: Access): string {
  return `${name.replace(/Command$/, '')} of ${partition} ${item}`;
}
