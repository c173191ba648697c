import { randomBytes, randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { type LocalProcess, startUntilReady, temporaryFolder } from './local-process.ts';

const writers = 4;
const rounds = Math.min(Number(process.env.DORMOUSE_KILL_ROUNDS ?? 1), 10);
// One size for each place that a state is kept in: whole in its head item, and in chunks.
const sizes = [200, 500_000];

interface Written {
  acknowledged: Buffer | undefined;
  underWay: Buffer | undefined;
}

it(
  'loses nothing that it acknowledged when it is killed during writes',
  async () => {
    const data = temporaryFolder();
    const states = new Map<string, Written>();

    for (let round = 0; round < rounds; round++) {
      const server = await startUntilReady('--data', data, '--quiet');
      await assertKept(server, states);
      await writeUntilKilled(server, states, randomInt(1, 40));
    }

    const server = await startUntilReady('--data', data, '--quiet');
    await assertKept(server, states);
  },
  30_000 + rounds * 10_000,
);

/** Writers put states, each to keys of its own; the process is killed while the others' are under way. */
async function writeUntilKilled(
  server: LocalProcess,
  states: Map<string, Written>,
  acknowledgements: number,
) {
  let left = acknowledgements;
  const write = async (writer: number) => {
    for (let turn = 0; left > 0; turn++) {
      const key = `writer-${writer}/${turn % 3}`;
      const written = states.get(key) ?? { acknowledged: undefined, underWay: undefined };
      states.set(key, written);
      written.underWay = randomBytes(sizes[(writer + turn) % sizes.length] as number);
      const status = await put(server, key, written.underWay);
      if (status === undefined) return;
      expect([200, 201]).toContain(status);
      written.acknowledged = written.underWay;
      written.underWay = undefined;
      if (--left === 0) server.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await server.ended;
}

/** Resolves undefined when the process died before it answered. */
async function put({ url }: LocalProcess, key: string, body: Buffer): Promise<number | undefined> {
  try {
    const response = await fetch(`${url}/v1/agents/planner/instances/${key}`, { method: 'PUT', body });
    return response.status;
  } catch {
    return undefined;
  }
}

/** What was acknowledged is there, unless a write that was under way replaced it, whole. */
async function assertKept({ url }: LocalProcess, states: Map<string, Written>) {
  for (const [key, written] of states) {
    const response = await fetch(`${url}/v1/agents/planner/instances/${key}`);
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status === 404) {
      expect(written.acknowledged).toBeUndefined();
      continue;
    }
    expect(response.status).toBe(200);
    const isOneOfThem = [written.acknowledged, written.underWay].some((state) => state?.equals(body));
    expect(isOneOfThem, key).toBe(true);
    Object.assign(written, { acknowledged: body, underWay: undefined });
  }
}
