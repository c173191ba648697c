import { AgentsFileError, loadAgents } from '../../../infra/agents-file.ts';
import { TooLargeError } from '../../../lib/index.ts';

/** What `loadAgents` makes of a file, as a line of JSON. */
export interface Outcome {
  /** Its agents' names. */
  readonly agents?: readonly string[];
  /** What the first agent's `load` makes of `{a: 1}`. */
  readonly loaded?: unknown;
  /** Whether what its schema throws is of this process's library. */
  readonly isOneLibrary?: boolean;
  /** Why it was refused. */
  readonly refused?: string;
}

for (const file of process.argv.slice(2)) console.log(JSON.stringify(await outcomeOf(file)));

async function outcomeOf(file: string): Promise<Outcome> {
  try {
    const agents = await loadAgents(file);
    const [first] = agents.values();
    return {
      agents: [...agents.keys()],
      loaded: first?.load?.({ a: 1 }, { agent: first.name, key: 'k' }),
      isOneLibrary: thrownBy(() => first?.state?.['~standard'].validate({})) instanceof TooLargeError,
    };
  } catch (error) {
    if (!(error instanceof AgentsFileError)) throw error;
    return { refused: error.message };
  }
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
