import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import type { DynamoDb } from '../../infra/local/dynalite-requests.ts';
import { type Fault, faults, faultyClient } from '../support/faulty-dynamodb.ts';
import { seededRandom } from '../support/seeded-random.ts';

export interface Simulation {
  readonly seed: number;
  readonly keys: number;
  readonly writers: number;
  readonly callsPerWriter: number;
  /** The part of all requests that something happens to. */
  readonly faultRate: number;
}

/** What happened between writers and database. */
export interface Disturbance {
  readonly requests: number;
  readonly faults: Readonly<Record<string, number>>;
}

export interface Findings extends Disturbance {
  readonly calls: number;
  readonly unknown: number;
  readonly violations: readonly Violation[];
  /** What was read that nobody stored so, or failed otherwise than by being unavailable. */
  readonly torn: readonly string[];
  /** Rows that are left for good once all was removed and every delay has passed. */
  readonly orphans: readonly string[];
}

/** A law that does not hold of a key, and the history of that key. */
export interface Violation {
  readonly key: string;
  readonly law: string;
  readonly history: readonly { readonly from: number }[];
}

export interface Writer {
  readonly key: string;
  /** Counted within the key, and over all of them. */
  readonly index: number;
  readonly number: number;
  readonly random: () => number;
  readonly client: DynamoDBClient;
}

/** More of them would wait for this process, and not for what is wrong on the way. */
const keysAtOnce = 20;

/** Lets writers, each with a client of its own, work on the same key at once, key by key; resolves when the last late request is in. */
export async function letWrite(
  { seed, keys, writers, faultRate }: Simulation,
  database: DynamoDb,
  work: (writer: Writer) => Promise<void>,
): Promise<Disturbance> {
  const counted: Record<string, number> = {};
  const settling: (() => Promise<unknown>)[] = [];
  let requests = 0;
  const writerOf = (number: number): Writer => {
    const random = seededRandom(seed * 1_000_003 + number);
    const faultOf = (): Fault | undefined => {
      requests++;
      if (random() >= faultRate) return undefined;
      const fault = faults[Math.floor(random() * faults.length)];
      if (fault !== undefined) counted[fault] = (counted[fault] ?? 0) + 1;
      return fault;
    };
    const { client, settled } = faultyClient(database, faultOf);
    settling.push(settled);
    return {
      key: `key-${Math.floor(number / writers)}`,
      ...{ index: number % writers, number, random, client },
    };
  };
  const numbers = Array.from({ length: keys }, (_, key) =>
    Array.from({ length: writers }, (_, index) => key * writers + index),
  );
  await pMap(numbers, (ofKey) => Promise.all(ofKey.map((number) => work(writerOf(number)))), {
    concurrency: keysAtOnce,
  });
  await Promise.all(settling.map((settled) => settled()));
  return { requests, faults: counted };
}

/** Moments in their order, none of them twice. */
export function momentCounter(): () => number {
  let moment = 0;
  return () => ++moment;
}

/** Text that does not compress, the same for the same random numbers. */
export function paddingOf(random: () => number, length: number): string {
  return Array.from({ length }, () => String.fromCharCode(33 + random() * 90)).join('');
}

export function oneOf<T>(choices: readonly [T, ...T[]], random: () => number): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
