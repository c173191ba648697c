import { expect, test } from 'vitest';
import { memoryUnderTest } from '../../support/memory-under-test.ts';

test('what was forgotten is known for a day, and no longer: no table deletes what is over', async () => {
  const { memory, store, clock } = memoryUnderTest();
  await memory.remember({ id: 'm', content: 'm' });
  await memory.forgetSessionWhere(() => true);

  clock.advanceSecs(86_400 - 1);
  expect(await store.forgottenAmong(memory.scope, ['m'])).toEqual(['m']);
  clock.advanceSecs(1);
  expect(await store.forgottenAmong(memory.scope, ['m'])).toEqual([]);
});
