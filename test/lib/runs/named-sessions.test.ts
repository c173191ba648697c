import { expect, test } from 'vitest';
import { startRun } from '../../../lib/runs/start-run.ts';
import { workShard } from '../../../lib/runs/work-shard.ts';
import { engineUnderTest, hardlyAnyTime } from '../../support/engine-under-test.ts';

test.each([
  ['by workers who have the time for all of them', () => undefined],
  ['one at a time', hardlyAnyTime],
])(
  'the sessions that were named are visited page by page, each once, in whatever order they were named, %s',
  async (_how, time) => {
    const visits: string[] = [];
    const under = engineUnderTest({ actions: { digest: ({ id }) => visits.push(id) } }, { pageSize: 3 });
    const registered = await under.register(100);
    const sessions = registered.toReversed();

    const { run } = await startRun(under.engine, { agent: 'support', action: 'digest', sessions });
    await under.queue.drain((message) => workShard(under.engine, message, { remainingMs: time() }));

    expect(run.pending).toEqual(run.pending.toSorted((a, b) => a - b));
    expect(visits.toSorted()).toEqual(registered.toSorted());
    expect(await under.engine.runs.get(run)).toMatchObject({ status: 'completed', sessions: 100, ok: 100 });
    for (const shard of run.pending) {
      const { pages, sessions: count } = await under.engine.runs.progress({ ...run, shard });
      expect(pages).toBe(time === hardlyAnyTime ? count : Math.ceil(count / 3));
    }
  },
);

test('sessions that fill a page exactly are one page', async () => {
  const under = engineUnderTest({ actions: { digest: () => 'fine' } }, { pageSize: 1 });
  await under.register(1);

  const { run } = await startRun(under.engine, { agent: 'support', action: 'digest', sessions: ['s1'] });
  await under.work();

  const shard = { ...run, shard: run.pending[0] ?? -1 };
  expect(await under.engine.runs.progress(shard)).toMatchObject({ pages: 1, done: true, sessions: 1 });
});
