import { memoryUsage } from 'node:process';
import { garbageCollector } from '../support/garbage-collector.ts';

/** What a process has of memory, in bytes. */
export interface MemoryReport {
  /** Of the operating system, what native code holds included. */
  readonly resident: number;
  /** Objects that are in use, garbage not counted. */
  readonly heap: number;
}

/** Loaded before a program that was forked: answers every message of its parent with what memory the process has. */
const collectGarbage = garbageCollector();
process.on('message', () => {
  const { rss: resident } = memoryUsage();
  collectGarbage();
  const { heapUsed: heap } = memoryUsage();
  process.send?.({ resident, heap } satisfies MemoryReport);
});
process.on('disconnect', () => process.exit());
