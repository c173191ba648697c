import type { RunEngine } from '../../lib/runs/run-engine.ts';

/** What becomes of a process at its next write: it lives, or dies before the write is applied, or after it. */
export type WriteFate = 'lives' | 'dies before' | 'dies after';

const writes = new Set([
  ...['create', 'admit', 'markDispatched', 'end', 'claimShard', 'handOver', 'commitPage', 'finishShard'],
  ...['acquire', 'release'],
]);

/**
 * An engine of a process of its own: once it has died, no call of it reaches anything. A `send` that it dies after has
 * sent some of its messages only.
 */
export function mortalEngine(engine: RunEngine, fateOf: (write: string) => WriteFate): RunEngine {
  let dead = false;
  const die = (): never => {
    dead = true;
    throw new Error('the process was killed');
  };
  const perform = async <T>(write: string | undefined, call: () => Promise<T>): Promise<T> => {
    if (dead) return die();
    const fate = write === undefined ? 'lives' : fateOf(write);
    if (fate === 'dies before') return die();
    const result = await call();
    return dead || fate === 'dies after' ? die() : result;
  };
  const mortal = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        const write = writes.has(String(name)) ? String(name) : undefined;
        return (...args: unknown[]) => perform(write, () => method.apply(target, args));
      },
    });

  return {
    ...engine,
    runs: mortal(engine.runs),
    leases: mortal(engine.leases),
    queue: {
      async sendLater(messages, secs) {
        if (dead) return die();
        await engine.queue.sendLater?.(messages, secs);
      },
      async send(messages) {
        if (dead) return die();
        const fate = fateOf('send');
        if (fate === 'dies before') return die();
        const sent = fate === 'lives' ? messages : messages.slice(0, Math.ceil(messages.length / 2));
        await engine.queue.send(sent);
        if (fate === 'dies after') return die();
      },
    },
  };
}
