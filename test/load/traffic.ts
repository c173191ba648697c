import { seededRandom } from '../support/seeded-random.ts';
import { type Call, everyWrite, someCall } from './calls.ts';

/** A run leaves records for 90 days: so many are started and no more, however fast the machine. */
const runEveryMs = 15_000;

export interface Traffic {
  /** Answers so far, by their status, and the calls that were given up. */
  readonly answers: Readonly<Record<string, number>>;
  /** Begins no more calls, and resolves when those under way have their answers. Rejects where one had none. */
  end(): Promise<void>;
}

/**
 * Sends calls of every kind to a local server, over so many connections at once. Resolves once everything that is written
 * has been written; the same seed makes the same choices.
 */
export async function startTraffic(
  url: string,
  { connections, seed }: { readonly connections: number; readonly seed: number },
): Promise<Traffic> {
  const answers: Record<string, number> = {};
  const etags = new Map<string, string>();
  let lastRunAt = Number.NEGATIVE_INFINITY;
  let isOver = false;

  const mayRun = () => {
    const now = performance.now();
    if (now - lastRunAt < runEveryMs) return false;
    lastRunAt = now;
    return true;
  };

  const count = (outcome: string) => {
    answers[outcome] = (answers[outcome] ?? 0) + 1;
  };

  const send = async ({ path, isGivenUp = false, ...call }: Call) => {
    const leaves = isGivenUp && { signal: AbortSignal.timeout(1) };
    try {
      const response = await fetch(`${url}${path}`, { ...call, ...leaves });
      await response.arrayBuffer();
      const etag = response.headers.get('etag');
      if (etag !== null) etags.set(path, etag);
      count(String(response.status));
    } catch (error) {
      if (!isGivenUp) throw error;
      count('given up');
    }
  };

  const connection = async (random: () => number) => {
    while (!isOver) await send(someCall(random, (path) => etags.get(path), mayRun));
  };
  for (const call of everyWrite(seededRandom(seed))) await send(call);
  const open = Promise.all(
    Array.from({ length: connections }, (_, index) => connection(seededRandom(seed * 1_000 + index))),
  );
  // Whoever ends the traffic is told.
  open.catch(() => undefined);
  return {
    answers,
    async end() {
      isOver = true;
      await open;
    },
  };
}
