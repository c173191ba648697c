import type { Clock } from '../../lib/clock.ts';

/** A clock that stands still until it is moved. */
export interface TestClock {
  readonly now: Clock;
  advanceSecs(seconds: number): void;
}

export function testClock(start = '2027-01-01T00:00:00.250Z'): TestClock {
  let time = Date.parse(start);
  return {
    now: () => new Date(time),
    advanceSecs(seconds) {
      time += seconds * 1000;
    },
  };
}
