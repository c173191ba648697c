import { errorEntry, errorId, stampOf } from '../sessions/error-entry.ts';
import type { ErrorLog, LoggedError } from '../sessions/error-log.ts';
import { errorPage, parseErrorPlace, wantedOf } from '../sessions/error-page.ts';

/** Keeps errors in this process only. */
export function inMemoryErrorLog(): ErrorLog {
  const logs = new Map<string, LoggedError[]>();
  let sequence = 0;

  return {
    async record(agent, error, { at, maxErrors }) {
      const log = logs.get(agent) ?? [];
      const stamp = Math.max(at.getTime(), log[0] ? stampOf(log[0].id) : 0);
      const entry = errorEntry(errorId(stamp, sequence++, 'here'), at, error);
      logs.set(agent, [entry, ...log].slice(0, maxErrors));
      return entry;
    },
    async list(query) {
      const place = parseErrorPlace(query.after);
      const { before } = place;
      const following = (logs.get(query.agent) ?? []).filter(({ id }) => before === undefined || id < before);
      return errorPage(following.slice(0, wantedOf(query, place)), query, place);
    },
  };
}
