import { builtInActions } from '../../lib/agents/define-agent.ts';
import { selectPolicy } from '../../lib/memory/retention.ts';
import { type Handle, httpHandler } from './http-handler.ts';
import { json } from './response.ts';

/** `GET /v1/agents` */
const listAgents: Handle = async (_request, { agents }) => {
  const items = [...agents.values()].map(
    ({ name, dump, load, state, retention, actions = {}, schedules = [] }) => ({
      name,
      callbacks: { dump: dump !== undefined, load: load !== undefined },
      schema: state !== undefined,
      // The policy that holds: an agent that has none of its own keeps messages by the default one.
      retention: selectPolicy({ retention }),
      actions: [...new Set([...Object.keys(actions), ...builtInActions])],
      schedules,
    }),
  );
  return json(200, { items });
};

export const handler = httpHandler('list-agents', listAgents);
