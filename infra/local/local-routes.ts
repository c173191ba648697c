import { checkNoBody, checkQuery } from '../../functions/http/checked-request.ts';
import { HttpError } from '../../functions/http/http-error.ts';
import { momentOf } from '../../functions/http/query-timestamp.ts';
import { repeatedNames } from '../../functions/http/request.ts';
import { type HttpResponse, json, toResult } from '../../functions/http/response.ts';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { DeadLetter } from '../../lib/in-memory/run-queue.ts';
import { messageOf } from '../../lib/message-of.ts';
import { decodePath } from './event.ts';
import type { Fire } from './fire-schedule.ts';
import type { Answer } from './gateway.ts';
import { readBody } from './request-body.ts';

export interface LocalRoutesOptions {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly deadLetters: readonly DeadLetter[];
  readonly fire: Fire;
  readonly clock?: Clock | undefined;
}

interface LocalRoute {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Query parameters that it takes. */
  readonly parameters: readonly string[];
  answer(parameter: string, query: URLSearchParams): HttpResponse | Promise<HttpResponse>;
}

export function isLocal(target: string): boolean {
  return target.startsWith('/_local/');
}

/** What only the local server has, under `/_local/`: it stands for what AWS shows or does elsewhere. */
export function localRoutes(options: LocalRoutesOptions): Answer {
  const routes: readonly LocalRoute[] = [
    { method: 'GET', path: /^\/_local\/health$/, parameters: [], answer: () => json(200, { status: 'ok' }) },
    {
      method: 'GET',
      path: /^\/_local\/dead-letters$/,
      parameters: [],
      answer: () => json(200, { items: options.deadLetters.map(serializeLetter) }),
    },
    {
      method: 'POST',
      path: /^\/_local\/schedules\/([^/]+)\/fire$/,
      parameters: ['time', 'agent'],
      answer: (name, query) => fireByName(options, name, query),
    },
  ];

  return async (request) => {
    const { method, url = '' } = request;
    const path = decodePath(url);
    const route = routes.find((candidate) => candidate.path.test(path));
    if (route === undefined) throw new HttpError('not_found', 'no such resource');
    if (route.method !== method) {
      const headers = { allow: route.method };
      throw new HttpError('method_not_allowed', `${method} is not a method of this resource`, { headers });
    }
    const { search, searchParams } = new URL(url, 'http://local');
    checkQuery(route.parameters, {
      query: Object.fromEntries(searchParams),
      repeated: repeatedNames(search.slice(1)),
    });
    checkNoBody('this route', await readBody(request));
    const [, parameter = ''] = route.path.exec(path) ?? [];
    return toResult(await route.answer(parameter, searchParams));
  };
}

function serializeLetter({ message: { agent, runId, shard }, error }: DeadLetter) {
  return { agent, runId, shard, error: messageOf(error) };
}

/** Fires the schedules of this name: of the agent that `?agent=` names, or of all. The tick is of `?time=`, or of now. */
async function fireByName(
  { agents, fire, clock = systemClock }: LocalRoutesOptions,
  name: string,
  query: URLSearchParams,
): Promise<HttpResponse> {
  const [time, only] = [query.get('time'), query.get('agent')];
  const at = time === null ? clock() : momentOf(time, 'time');
  const found = [...agents.values()].flatMap(({ name: agent, schedules = [] }) =>
    schedules
      .filter((schedule) => schedule.name === name && (only === null || only === agent))
      .map((schedule) => ({ agent, schedule })),
  );
  if (found.length === 0) throw new HttpError('not_found', 'there is no such schedule');
  const items = [];
  for (const { agent, schedule } of found) {
    const dispatched = await fire(agent, schedule, at);
    items.push({ agent, schedule: name, action: schedule.action, time: at, ...dispatched });
  }
  return json(202, { items });
}
