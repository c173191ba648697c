import pMap from 'p-map';
import { actionNames } from '../../../lib/agents/actions.ts';
import { selectPolicy } from '../../../lib/memory/retention.ts';
import type { Handle } from '../http-handler.ts';
import { json } from '../response.ts';

/** `GET /v1/agents` */
export const listAgents: Handle = async (_request, { agents }) => {
  const items = await pMap([...agents.values()], async (definition) => {
    const { name, dump, load, state, retention, schedules = [] } = definition;
    return {
      name,
      callbacks: { dump: dump !== undefined, load: load !== undefined },
      schema: state !== undefined,
      // The policy that holds: an agent that has none of its own keeps messages by the default one.
      retention: selectPolicy({ retention }),
      actions: await actionNames(definition),
      schedules,
    };
  });
  return json(200, { items });
};
