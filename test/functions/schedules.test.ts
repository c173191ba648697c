import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentDefinition } from '../../lib/agents/agent-definition.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { scheduleDescriptor } from '../../lib/schedules/schedule-descriptor.ts';
import { capturedLog } from '../support/captured-log.ts';
import { expectDescribed } from '../support/described-answer.ts';
import { handlerOf } from '../support/handler-of.ts';
import { httpEvent } from '../support/http-event.ts';
import { lifecycleFunctions } from '../support/lifecycle-functions.ts';

const listSchedules = handlerOf('list-schedules');

beforeEach(() => {
  capturedLog();
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2027-03-27T12:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const actions = { digest: () => undefined };
const itemsOf = async (definitions: readonly AgentDefinition[]) => {
  lifecycleFunctions(definitions);
  const { statusCode, body } = await listSchedules(httpEvent({ rawPath: '/v1/schedules' }));
  const answer = { statusCode, body: JSON.parse(body ?? '') };
  expectDescribed('list-schedules', answer);
  expect(Object.keys(answer.body)).toEqual(['items']);
  return answer.body.items;
};

test('every schedule of every agent, with what EventBridge is given and when it is due next', async () => {
  const definitions = [
    defineAgent({
      ...{ name: 'support', actions },
      schedules: [
        scheduleDescriptor('nightly', '0 2 * * *', 'prune-raw-memory'),
        scheduleDescriptor('payday', '0 9 1,15 * MON', 'digest'),
      ],
    }),
    defineAgent({ name: 'idle' }),
    defineAgent({
      ...{ name: 'other', actions },
      schedules: [scheduleDescriptor('nightly', '@daily', 'digest')],
    }),
  ];

  expect(await itemsOf(definitions)).toEqual([
    {
      ...{ name: 'nightly', agent: 'support', action: 'prune-raw-memory', cron: '0 2 * * *' },
      ...{ expressions: ['cron(0 2 * * ? *)'], description: 'At 02:00 (UTC)' },
      next: ['2027-03-28T02:00:00.000Z', '2027-03-29T02:00:00.000Z', '2027-03-30T02:00:00.000Z'],
    },
    {
      ...{ name: 'payday', agent: 'support', action: 'digest', cron: '0 9 1,15 * MON' },
      expressions: ['cron(0 9 1,15 * ? *)', 'cron(0 9 ? * 2 *)'],
      description: expect.stringContaining('Monday'),
      next: ['2027-03-29T09:00:00.000Z', '2027-04-01T09:00:00.000Z', '2027-04-05T09:00:00.000Z'],
    },
    expect.objectContaining({ name: 'nightly', agent: 'other', cron: '@daily' }),
  ]);
});

test('one in a time zone names it, and is due at its wall times: a skipped one is not due', async () => {
  const timezone = 'Europe/Paris';
  const schedules = [scheduleDescriptor('d', '30 2 * * *', 'digest', { timezone })];

  expect(await itemsOf([defineAgent({ name: 'support', actions, schedules })])).toEqual([
    {
      ...{ name: 'd', agent: 'support', action: 'digest', cron: '30 2 * * *', timezone },
      ...{ expressions: ['cron(30 2 * * ? *)'], description: 'At 02:30 (Europe/Paris)' },
      // On the 28th the clocks go from 2 to 3.
      next: ['2027-03-29T00:30:00.000Z', '2027-03-30T00:30:00.000Z', '2027-03-31T00:30:00.000Z'],
    },
  ]);
});

test('a rate, and one whose time is over, have no next times; one that comes once has one', async () => {
  const schedules = ['rate(5 minutes)', 'at(2027-03-27T11:59:00)', 'at(2027-03-27T12:00:01)'].map(
    (cron, index) => scheduleDescriptor(`s${index}`, cron, 'digest'),
  );

  const items = await itemsOf([defineAgent({ name: 'support', actions, schedules })]);

  expect(items.map(({ expressions }: { expressions: string[] }) => expressions)).toEqual(
    schedules.map(({ cron }) => [cron]),
  );
  expect(items.map(({ next }: { next: string[] }) => next)).toEqual([[], [], ['2027-03-27T12:00:01.000Z']]);
  expect(items.map(({ over }: { over?: true }) => over)).toEqual([undefined, true, undefined]);
});

test('agents without schedules have none', async () => {
  expect(await itemsOf([defineAgent({ name: 'support' })])).toEqual([]);
});
