import { inspect } from 'node:util';
import { DumpFailedError, LoadFailedError } from '../../lib/errors.ts';
import type { JobLogger } from '../../lib/lifecycle/session-job.ts';

/** For whoever writes agents: what deployments keep out of their log, since it may quote a state or name somebody. */
export interface DeveloperLog extends JobLogger {
  /** A `dump` or `load` callback that threw, of whatever request. */
  requestFailed(error: unknown): void;
}

/** On the console. Quiet, it has only what went wrong. */
export function developerLog({ quiet }: { readonly quiet: boolean }): DeveloperLog {
  return {
    info(message, details) {
      if (!quiet) console.log(line(message, details));
    },
    warn(message, details) {
      console.error(line(message, details));
    },
    error(message, details) {
      console.error(line(message, details));
    },
    requestFailed(error) {
      if (error instanceof DumpFailedError || error instanceof LoadFailedError)
        console.error(line(error.message, { thrown: error.cause }));
    },
  };
}

/** Stacks tell the places in the sources, as the server and the agents file have source maps. */
function line(message: string, { thrown, ...details }: Readonly<Record<string, unknown>> = {}): string {
  const told = Object.keys(details).length === 0 ? '' : ` ${inspect(details, { breakLength: Infinity })}`;
  return `dormouse: ${message}${told}${thrown === undefined ? '' : `\n${inspect(thrown)}`}`;
}
