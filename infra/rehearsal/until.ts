import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again until the answer is one, and resolves it; undefined when it was none for as long as given. */
export async function until<T>(ask: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || Date.now() > deadline) return answer;
    await sleep(500);
  }
}
