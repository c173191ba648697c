import { expect, test } from 'vitest';
import { decodeMoment, encodeMoment } from '../../functions/http/conversations/moment.ts';
import { inMemoryStores } from '../../lib/in-memory/stores.ts';
import { createRuntime } from '../../lib/runtime/create-runtime.ts';
import { testClock } from '../support/test-clock.ts';

const moment = { arrivals: 17, forgets: 2 };

test('a moment is taken for a day, and by its own session and agent only', () => {
  const clock = testClock();
  const runtimeOf = (agent: string) => createRuntime(agent, { stores: inMemoryStores(), clock: clock.now });
  const runtime = runtimeOf('support');
  const text = encodeMoment(runtime, 's1', moment);
  const read = (of = runtime, session = 's1', sent: unknown = text) => decodeMoment(of, session, sent);

  clock.advanceSecs(86_399);

  expect(read()).toEqual(moment);
  const refused = expect.objectContaining({ code: 'invalid_request' });
  expect(() => read(runtime, 's10')).toThrow(refused);
  expect(() => read(runtimeOf('support2'))).toThrow(refused);
  for (const sent of [`${text}A`, text.slice(1), '', 17, null, {}])
    expect(() => read(runtime, 's1', sent)).toThrow(refused);

  clock.advanceSecs(1);
  expect(() => read()).toThrow(expect.objectContaining({ code: 'overtaken' }));
});
