import { AsyncLocalStorage } from 'node:async_hooks';

type OnStray = (error: unknown) => void;

const underWay = new AsyncLocalStorage<OnStray>();

/**
 * Does work whose stray errors must not end the process: those of promises that nobody waits for, and of timers and
 * events. `onStray` is told of each, also of one that comes after the work has ended. Errors of anything else go
 * wherever they went before.
 */
export function withoutStrays<T>(onStray: OnStray, work: () => Promise<T>): Promise<T> {
  watch();
  return underWay.run(onStray, work);
}

let watching = false;

/** Lambda's own listeners end the process at once: they are asked only for errors that are not ours. */
function watch(): void {
  if (watching) return;
  watching = true;
  const events: NodeJS.EventEmitter = process;
  for (const event of ['unhandledRejection', 'uncaughtException']) {
    const others = events.listeners(event);
    events.removeAllListeners(event);
    events.on(event, (error: unknown, ...rest: unknown[]) => {
      const onStray = underWay.getStore();
      if (onStray !== undefined) onStray(error);
      else if (others.length > 0) for (const other of others) other.call(process, error, ...rest);
      else endOf(error);
    });
  }
}

/** As Node does where nobody listens. */
function endOf(error: unknown): void {
  console.error(error);
  process.exit(1);
}
