import { lifecycleEngine } from '../../functions/lifecycle-engine.ts';
import type { Services } from '../../functions/services.ts';
import { scopesOf } from '../../functions/tenants.ts';
import { messageOf } from '../../lib/message-of.ts';
import { resumeRuns } from '../../lib/runs/resume-runs.ts';

/**
 * Puts what a stop or a crash left of runs into the queue again; to be called before any of it is worked on. A run of an
 * agent that is not defined any more stays as it is, for the case that it comes back.
 */
export async function resumeCutOffRuns(services: Services, log: (line: string) => void): Promise<void> {
  const engine = lifecycleEngine(services);
  for (const agent of services.agents.keys()) {
    try {
      for await (const scope of scopesOf(agent, services)) {
        for (const { runId, action } of await resumeRuns(engine, scope))
          log(`Run ${runId} of '${agent}' (${action}) goes on`);
      }
    } catch (error) {
      // A server that does not start for it would help nobody to look into it.
      console.error(`dormouse: the runs of '${agent}' that were cut off do not go on: ${messageOf(error)}`);
    }
  }
}
