import { memoryUsage } from 'node:process';
import type { RunStore } from '../../lib/runs/run-store.ts';
import { garbageCollector } from '../support/garbage-collector.ts';

/** A collection of all garbage takes longer than a page of sessions that have nothing to do. */
const pagesPerSample = 10;

export interface HeapPeak {
  /** Samples at page boundaries, where all jobs of a page are held. */
  observe(runs: RunStore): RunStore;
  /** The most memory that was in use at any sample, garbage not counted, buffers counted. */
  readonly megabytes: number;
}

export function heapPeak(): HeapPeak {
  const collectGarbage = garbageCollector();
  let pages = 0;
  let peak = 0;
  const sample = () => {
    if (pages++ % pagesPerSample > 0) return;
    collectGarbage();
    const { heapUsed, external } = memoryUsage();
    peak = Math.max(peak, (heapUsed + external) / 1024 ** 2);
  };
  return {
    observe: (runs) => ({
      ...runs,
      commitPage: (...page) => {
        sample();
        return runs.commitPage(...page);
      },
    }),
    get megabytes() {
      return peak;
    },
  };
}
