import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { abandonedAfterMs } from '../defaults.ts';
import type { Item } from './item.ts';
import { isConditionFailure, wasRetried } from './translate-error.ts';

/*
 * How a write takes effect once, however often its request arrives: the SDK sends it again when the answer was lost,
 * and the network may deliver a request seconds after its connection was reset.
 *
 * A writer (one store object in one process) has lanes. A lane is used by one call at a time, and gives each of its
 * writes a number higher than the last. A guarded write sets its lane's attribute on the item to that number, on the
 * condition that no such or higher number is there: one update, no read. So the same request finds its own number when
 * it arrives again, whatever other writers did meanwhile, for as long as the attribute stays; and a writer whose
 * condition failed can tell "this was me" from "somebody was faster".
 *
 * The attribute's value is the number with ten digits added, in which the item's version before the write stands: the
 * update adds it itself. An item keeps the lanes of those who wrote it; the lanes of writers who cannot have a request
 * under way any more may be removed.
 */

const prefix = 'w_';
const versionDigits = 10;
const versionRange = 10n ** BigInt(versionDigits);
/** A number is a time in milliseconds with two digits added: a clock orders the numbers, and tells the age of a lane. */
const numbersPerMs = 100;
/** The number after a write's own is for the fence that keeps it out. */
const step = 2;

/** The lanes of an item: names of attributes, and their values. */
export type LaneMarks = ReadonlyMap<string, string>;

/** One write's turn on its lane. A call that tries again, in another form too, does so in the same turn. */
export class Turn {
  readonly lane: Lane;
  readonly #number: number;
  #uncertain = false;

  constructor(lane: Lane, number: number) {
    this.lane = lane;
    this.#number = number;
  }

  /** The attribute that the write sets, and the condition it sets it on: `NOT <attribute> >= <mark>`. */
  get attribute(): string {
    return this.lane.attribute;
  }

  /** The least value of the attribute once the write was applied. The write adds the version that it found. */
  get mark() {
    return { N: laneValue(this.#number) };
  }

  /** What a fence sets instead: neither this write nor the fence itself takes effect after it. */
  get fence() {
    return { N: laneValue(this.#number + 1) };
  }

  /** Sends a request of this write, and notes whether it may be under way more than once. */
  async watch<T>(request: () => Promise<T>): Promise<T> {
    try {
      const answer = await request();
      if (wasRetried(answer)) this.#doubt();
      return answer;
    } catch (error) {
      if (!isConditionFailure(error) || wasRetried(error)) this.#doubt();
      throw error;
    }
  }

  /** A request of this write had no answer, and may still arrive. */
  get uncertain(): boolean {
    return this.#uncertain;
  }

  /** The version that this write found when it was applied; undefined when it was not. */
  versionFound(marks: LaneMarks): number | undefined {
    const mark = marks.get(this.attribute);
    if (mark === undefined) return undefined;
    const above = BigInt(mark) - BigInt(this.mark.N);
    return above >= 0n && above < versionRange ? Number(above) : undefined;
  }

  isFenced(marks: LaneMarks): boolean {
    const mark = marks.get(this.attribute);
    return mark !== undefined && BigInt(mark) >= BigInt(this.fence.N);
  }

  #doubt(): void {
    this.#uncertain = true;
    this.lane.doubt();
  }
}

export class Lane {
  readonly attribute: string;
  readonly #clock: Clock;
  #last = 0;
  #doubtedAt = Number.NEGATIVE_INFINITY;

  constructor(attribute: string, clock: Clock) {
    this.attribute = attribute;
    this.#clock = clock;
  }

  turn(): Turn {
    this.#last = Math.max(this.#last + step, this.#clock().getTime() * numbersPerMs);
    return new Turn(this, this.#last);
  }

  doubt(): void {
    this.#doubtedAt = this.#clock().getTime();
  }

  /** A request of one of its writes may still arrive. */
  get inDoubt(): boolean {
    return this.#clock().getTime() - this.#doubtedAt <= abandonedAfterMs;
  }
}

/** The lanes of one writer. */
export class Lanes {
  readonly #clock: Clock;
  readonly #writer: string;
  readonly #own = new Map<string, Lane>();
  /** The last one given back is the next one taken: a writer of few calls leaves few lanes on an item. */
  readonly #idle: Lane[] = [];

  /** @param writer a name that no other writer has, of letters and digits */
  constructor(clock: Clock, writer: string = randomWriter()) {
    this.#clock = clock;
    this.#writer = writer;
  }

  /** Does the work of a call with a lane that is this call's alone. */
  async use<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = this.#idle.pop() ?? this.#open();
    try {
      return await work(lane);
    } finally {
      this.#idle.push(lane);
    }
  }

  /**
   * The marks that nobody needs any more: no request of their writes can be under way. Of its own lanes a writer knows;
   * those of others are over when they are older than any retry.
   */
  over(marks: LaneMarks, current: string): [attribute: string, mark: string][] {
    const now = this.#clock().getTime();
    return [...marks].filter(([attribute, mark]) => {
      if (attribute === current) return false;
      const own = this.#own.get(attribute);
      if (own !== undefined) return this.#idle.includes(own) && !own.inDoubt;
      return now - timeOf(mark) > abandonedAfterMs;
    });
  }

  /** Whether an item with these marks may go, and all memory of them with it. */
  allOver(marks: LaneMarks, current: Lane): boolean {
    const others = marks.size - (marks.has(current.attribute) ? 1 : 0);
    return !current.inDoubt && this.over(marks, current.attribute).length === others;
  }

  #open(): Lane {
    const lane = new Lane(`${prefix}${this.#writer}${this.#own.size}`, this.#clock);
    this.#own.set(lane.attribute, lane);
    return lane;
  }
}

export function laneMarksOf(item: Item): LaneMarks {
  const marks = new Map<string, string>();
  for (const name in item) {
    const mark = name.startsWith(prefix) ? item[name]?.N : undefined;
    if (mark !== undefined) marks.set(name, mark);
  }
  return marks;
}

/** Where an item keeps what the last update of a lane came to (see write-once.ts). */
export function outcomeAttribute(lane: string): string {
  return `s_${lane.slice(prefix.length)}`;
}

function laneValue(number: number): string {
  return String(number) + '0'.repeat(versionDigits);
}

function timeOf(mark: string): number {
  return Number(mark) / numbersPerMs / Number(versionRange);
}

function randomWriter(): string {
  return BigInt(`0x${randomBytes(8).toString('hex')}`)
    .toString(36)
    .slice(0, 10)
    .padStart(10, '0');
}
