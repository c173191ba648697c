import { uncertainLaneMs } from '../../defaults.ts';
import type { ChunkedTable } from '../chunk-rows.ts';
import type { Item } from '../item.ts';
import type { Lanes } from '../lanes.ts';

/** What every step on a session's memory needs, resolved once. */
export interface MemoryTable extends ChunkedTable {
  readonly lanes: SessionLanes;
  /** Of updates that no session orders. */
  readonly writes: Lanes;
}

/** Where a call says what it is about to write. Used by one call at a time; the next one overwrites what it said. */
export interface Lane {
  readonly index: number;
  /** The attribute of the session's clock item. */
  readonly name: string;
  /** Grows with each call, so that a request that was delayed on its way overwrites nothing of a later call. */
  readonly turn: number;
}

/** The lanes of one store object: as many as it has calls under way at the same time. No other writer shares them. */
export class SessionLanes {
  readonly #writer: string;
  readonly #free: number[] = [];
  readonly #held: { index: number; until: number }[] = [];
  #count = 0;
  #turns = 0;

  /** @param writer a name that no other store object has, of letters and digits */
  constructor(writer: string) {
    this.#writer = writer;
  }

  take(now: Date): Lane {
    while ((this.#held[0]?.until ?? Number.POSITIVE_INFINITY) <= now.getTime())
      this.#free.push(this.#held.shift()?.index ?? this.#count++);
    const index = this.#free.pop() ?? this.#count++;
    return { index, name: `${laneOf(this.#writer)}_${index}`, turn: ++this.#turns };
  }

  /** A call that may still have requests on their way keeps its lane until no retry of them can come any more. */
  giveBack({ index }: Lane, certain: boolean, now: Date): void {
    if (certain) this.#free.push(index);
    else this.#held.push({ index, until: now.getTime() + uncertainLaneMs });
  }
}

const lanePrefix = 'w_';
const laneOf = (writer: string) => lanePrefix + writer;

function isLane(attribute: string): boolean {
  return attribute.startsWith(lanePrefix);
}

/** What a lane's attribute holds. */
export function intentOf(lane: Lane, keys: readonly string[], now: Date) {
  const at = { N: String(now.getTime()) };
  return { M: { keys: { SS: [...keys] }, turn: { N: String(lane.turn) }, at } };
}

interface Intent {
  readonly lane: string;
  readonly keys: readonly string[];
  readonly turn: string;
  readonly at: number;
}

/** All that calls said in the session's clock item. */
export function intentsOf(item: Item): Intent[] {
  return Object.entries(item)
    .filter(([name]) => isLane(name))
    .map(([lane, { M = {} }]) => ({
      lane,
      keys: M.keys?.SS ?? [],
      turn: M.turn?.N ?? '0',
      at: Number(M.at?.N ?? 0),
    }));
}
