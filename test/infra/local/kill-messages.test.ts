import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { type LocalProcess, startUntilReady, temporaryFolder } from './local-process.ts';

/** Each takes seconds: crash.test.ts kills under writes every time. */
const rounds = Math.min(Number(process.env.DORMOUSE_KILL_ROUNDS ?? 0), 10);
const writers = 4;
const messagesOfCall = 5;

const urlOf = ({ url }: LocalProcess, session: string, path = '') =>
  `${url}/v1/agents/planner/sessions/${session}${path}`;

/** Resolves undefined when the process died before it answered. */
async function call(url: string, method: string, body?: object): Promise<number | undefined> {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method, ...(body && { headers, body: JSON.stringify(body) }) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

const idsOf = (call: number) => Array.from({ length: messagesOfCall }, (_, index) => `m${call}-${index}`);
const messages = (call: number) =>
  idsOf(call).map((id) => ({ id, content: `content of ${id}`, sender: { id: 'ann' } }));

/** The ids in the list of messages. */
async function listed(server: LocalProcess, session: string): Promise<string[]> {
  const response = await fetch(urlOf(server, session, '/messages?limit=1000'));
  expect(response.status).toBe(200);
  const { items } = (await response.json()) as { items: { id: string }[] };
  return items.map(({ id }) => id).sort();
}

it.runIf(rounds > 0)(
  'messages are in the list once, and go once, when a process that was killed under them is asked again',
  async () => {
    const data = temporaryFolder();
    let server = await startUntilReady('--data', data, '--quiet');
    const restart = async () => {
      server.kill('SIGKILL');
      await server.ended;
      server = await startUntilReady('--data', data, '--quiet');
    };
    for (let round = 0; round < rounds; round++) {
      const sessions = Array.from({ length: writers }, (_, writer) => `s${round}-${writer}`);
      for (const session of sessions) expect(await call(urlOf(server, session), 'PUT')).toBe(201);
      let left = randomInt(1, 40);
      const sent = await Promise.all(
        sessions.map(async (session) => {
          let number = 0;
          for (let status: number | undefined = 201; status !== undefined; number++) {
            status = await call(urlOf(server, session, '/messages'), 'POST', messages(number));
            if (status !== undefined) expect(status).toBe(201);
            if (--left === 0) server.kill('SIGKILL');
          }
          return number;
        }),
      );
      await restart();

      for (const [writer, session] of sessions.entries()) {
        const calls = Array.from({ length: sent[writer] as number }, (_, number) => number);
        for (const number of calls)
          expect([200, 201]).toContain(
            await call(urlOf(server, session, '/messages'), 'POST', messages(number)),
          );
        expect(await listed(server, session)).toEqual(calls.flatMap(idsOf).sort());
      }

      const removals = sessions.map((session) =>
        call(urlOf(server, session, '/messages?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'), 'DELETE'),
      );
      if (randomInt(2) === 0) await Promise.race(removals);
      await restart();
      await Promise.all(removals);
      for (const session of sessions) {
        const removal = '/messages?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z';
        expect(await call(urlOf(server, session, removal), 'DELETE')).toBe(200);
        expect(await listed(server, session)).toEqual([]);
        expect(await call(urlOf(server, session, '/messages'), 'POST', messages(0))).toBe(201);
        expect(await listed(server, session)).toEqual(idsOf(0).sort());
      }
    }
    server.kill('SIGTERM');
    expect((await server.ended).stderr).toBe('');
  },
  60_000 + rounds * 30_000,
);
