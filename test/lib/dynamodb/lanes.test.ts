import { expect, test } from 'vitest';
import { abandonedAfterMs } from '../../../lib/defaults.ts';
import { Lanes, laneMarksOf, outcomeAttribute, type Turn } from '../../../lib/dynamodb/lanes.ts';
import { sdkError } from '../../support/failing-client.ts';
import { testClock } from '../../support/test-clock.ts';

const clock = testClock();
const lanesOf = (writer?: string) => new Lanes(clock.now, writer);
const turnOf = (lanes = lanesOf('me')) => lanes.use(async (lane) => lane.turn());
/** The marks of an item after a write of this turn found this version. */
const appliedAt = (turn: Turn, version: number) =>
  new Map([[turn.attribute, String(BigInt(turn.mark.N) + BigInt(version))]]);
const lose = (turn: Turn) =>
  turn.watch(() => Promise.reject(sdkError('TimeoutError'))).catch((error: Error) => error.name);

test.each([0, 1, 9_999_999_999])('a turn knows the version that its write found: %i', async (version) => {
  const turn = await turnOf();

  expect(turn.versionFound(appliedAt(turn, version))).toBe(version);
  expect(turn.isFenced(appliedAt(turn, version))).toBe(false);
});

test('a turn that was fenced was not applied, nor was one of which the item has no mark, or an older one', async () => {
  const turn = await turnOf();
  const fenced = new Map([[turn.attribute, turn.fence.N]]);
  const older = new Map([[turn.attribute, String(BigInt(turn.mark.N) - 1n)]]);

  for (const marks of [fenced, older, new Map()]) expect(turn.versionFound(marks)).toBeUndefined();
  expect([fenced, older, new Map()].map((marks) => turn.isFenced(marks))).toEqual([true, false, false]);
});

test('the turns of a lane go up, also where the clock stands still or goes back', async () => {
  const marks = await lanesOf('me').use(async (lane) => {
    const first = lane.turn();
    const second = lane.turn();
    clock.advanceSecs(-5);
    return [first, second, lane.turn()].flatMap(({ mark, fence }) => [BigInt(mark.N), BigInt(fence.N)]);
  });

  expect([...marks].sort((a, b) => (a < b ? -1 : 1))).toEqual(marks);
  expect(new Set(marks).size).toBe(6);
});

test('a lane of its own is over for a writer when it is idle, and no request of it can arrive any more', async () => {
  const lanes = lanesOf('me');
  const busy = await lanes.use(async (lane) => {
    const turn = lane.turn();
    expect(lanes.over(appliedAt(turn, 1), 'another')).toEqual([]);
    await lose(turn);
    return turn;
  });
  const marks = appliedAt(busy, 1);

  expect(lanes.over(marks, 'another')).toEqual([]);
  clock.advanceSecs(abandonedAfterMs / 1000);
  expect(lanes.over(marks, 'another')).toEqual([]);
  clock.advanceSecs(0.001);
  expect(lanes.over(marks, 'another')).toEqual([...marks]);
  expect(lanes.over(marks, busy.attribute)).toEqual([]);
});

test('a lane of its own is over at once where each of its requests had its answer; that of another writer is not', async () => {
  const lanes = lanesOf('me');
  const turn = await turnOf(lanes);
  const marks = appliedAt(turn, 1);

  expect(await turn.watch(async () => 'answer')).toBe('answer');

  expect(lanes.over(marks, 'another')).toEqual([...marks]);
  expect(lanesOf('other').over(marks, 'another')).toEqual([]);
});

test('an item may go when all of its lanes are over, and the one in use has no request on its way', async () => {
  const lanes = lanesOf('me');
  const theirs = appliedAt(await turnOf(lanesOf('other')), 1);

  await lanes.use(async (lane) => {
    const turn = lane.turn();
    const own = appliedAt(turn, 1);
    expect(lanes.allOver(own, lane)).toBe(true);
    expect(lanes.allOver(new Map(), lane)).toBe(true);
    expect(lanes.allOver(theirs, lane)).toBe(false);
    expect(lanes.allOver(new Map([...own, ...theirs]), lane)).toBe(false);
    await lose(turn);
    expect(lanes.allOver(own, lane)).toBe(false);
  });
});

test('a writer without a name has one that no other has, of letters and digits that stay few', async () => {
  const [one, other] = [await turnOf(lanesOf()), await turnOf(lanesOf())];

  for (const { attribute } of [one, other]) expect(attribute).toMatch(/^w_[0-9a-z]{10}0$/);
  expect(one.attribute).not.toBe(other.attribute);
});

test('of an item only numbers under names of lanes are marks', () => {
  expect([...laneMarksOf({ w_me0: { N: '7' }, w_me1: { S: '7' }, amount: { N: '1' } })]).toEqual([
    ['w_me0', '7'],
  ]);
  expect(outcomeAttribute('w_me0')).toBe('s_me0');
});
