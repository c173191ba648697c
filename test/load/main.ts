import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { formatTable } from '../../infra/demo/table.ts';
import type { MemoryReport } from './report-memory.ts';
import { serverProcess } from './server-process.ts';
import { startTraffic } from './traffic.ts';

/**
 * `npm run check:memory -- [--minutes 5] [--connections 8] [--seed 1]`: a local server under load, once with its state in
 * memory and once in a folder. Its memory is flat where it grows by no more than this from the second fifth of the time
 * (the first one is the warm-up) to the last. Of each fifth the lowest of its samples counts: what calls under way hold
 * comes and goes.
 */
const growthMax = 1.15;
const fifths = 5;
const samplesPerFifth = 4;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
  },
});
const minutes = Number(values.minutes);
const options = { connections: Number(values.connections), seed: Number(values.seed) };
if (!(minutes > 0 && options.connections > 0))
  throw new Error('--minutes and --connections are numbers above 0');

const folder = mkdtempSync(join(tmpdir(), 'dormouse-load-'));
try {
  const inMemory = await underLoad('--memory');
  const inFolder = await underLoad('--data', folder);
  process.exitCode = inMemory && inFolder ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Prints figures as they come, and the verdict. */
async function underLoad(...args: readonly string[]): Promise<boolean> {
  const server = await serverProcess(...args);
  try {
    console.log(
      `\n${args[0]}: ${options.connections} connections for ${minutes} minutes, seed ${options.seed}`,
    );
    const traffic = await startTraffic(server.url, options);
    const samples: MemoryReport[] = [];
    const everyMs = (minutes * 60_000) / (fifths * samplesPerFifth);
    for (let number = 1; number <= fifths * samplesPerFifth; number++) {
      await pause(everyMs);
      const sample = await server.memory();
      samples.push(sample);
      const secs = Math.round((number * everyMs) / 1000);
      const answered = sum(Object.values(traffic.answers));
      console.log(
        `${secs} s: ${megabytes(sample.resident)} MB resident, ${megabytes(sample.heap)} MB of objects, ${answered} answers`,
      );
    }
    await traffic.end();
    console.log(`answers: ${JSON.stringify(traffic.answers)}`);
    const isFlat = judge(samples);
    const failed = Object.keys(traffic.answers).filter((status) => status.startsWith('5'));
    if (failed.length > 0) console.log(`there were answers with ${failed.join(', ')}`);
    return isFlat && failed.length === 0;
  } finally {
    await server.end();
  }
}

function judge(samples: readonly MemoryReport[]): boolean {
  const rows = (['resident', 'heap'] as const).map((kind) => {
    const lowest = (fifth: number) =>
      Math.min(
        ...samples
          .slice(fifth * samplesPerFifth, (fifth + 1) * samplesPerFifth)
          .map((sample) => sample[kind]),
      );
    const [before, after] = [lowest(1), lowest(fifths - 1)];
    return { kind, before, after, growth: after / before };
  });
  const cells = rows.map(({ kind, before, after, growth }) => [
    ...[kind, megabytes(before), megabytes(after), growth.toFixed(2)],
    growth <= growthMax ? 'flat' : `GROWS: above ${growthMax}`,
  ]);
  console.log(formatTable(['memory', 'MB, second fifth', 'MB, last fifth', 'ratio', 'verdict'], cells));
  return rows.every(({ growth }) => growth <= growthMax);
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
