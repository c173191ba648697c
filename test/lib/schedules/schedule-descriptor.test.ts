import { TimeZone } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { defineAgent } from '../../../lib/agents/define-agent.ts';
import { InvalidDefinitionError } from '../../../lib/agents/invalid-definition-error.ts';
import { InvalidScheduleError } from '../../../lib/schedules/invalid-schedule-error.ts';
import { scheduleDescriptor } from '../../../lib/schedules/schedule-descriptor.ts';
import { zoneNames } from '../../../lib/schedules/zone-names.ts';
import { isTimeZone } from '../../../lib/schedules/zoned-time.ts';

function refusalOf(make: () => unknown): InvalidScheduleError {
  try {
    make();
  } catch (error) {
    if (error instanceof InvalidScheduleError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const refusedField = (cron: string) => refusalOf(() => scheduleDescriptor('s', cron, 'a')).field;

describe('a schedule descriptor', () => {
  test('is what it was made from', () => {
    const plain = scheduleDescriptor('nightly', '0 2 * * *', 'compact-stale-sessions');
    const zoned = scheduleDescriptor('nightly', '0 2 * * *', 'x', { timezone: 'Europe/Paris' });

    expect(plain).toStrictEqual({ name: 'nightly', cron: '0 2 * * *', action: 'compact-stale-sessions' });
    expect(zoned).toStrictEqual({
      name: 'nightly',
      cron: '0 2 * * *',
      action: 'x',
      timezone: 'Europe/Paris',
    });
  });

  test.each(['', '-a', '.', '..', 'a b', 'a/b', 'é', 'a'.repeat(49)])('refuses the name %j', (name) => {
    expect(refusalOf(() => scheduleDescriptor(name, '0 2 * * *', 'a')).field).toBe('name');
  });

  test.each(['a', 'Nightly-compaction_2.0', 'a'.repeat(48)])('takes the name %j', (name) => {
    expect(scheduleDescriptor(name, '0 2 * * *', 'a').name).toBe(name);
  });

  test('refuses an empty action, and values that are no strings', () => {
    expect(refusalOf(() => scheduleDescriptor('s', '0 2 * * *', '')).field).toBe('action');
    expect(refusalOf(() => scheduleDescriptor('s', undefined as never, 'a')).field).toBe('cron');
    expect(refusalOf(() => scheduleDescriptor(7 as never, '0 2 * * *', 'a')).field).toBe('name');
  });

  test.each(['Europe/Paris', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'Etc/GMT+5', 'UTC'])(
    'takes the time zone %s',
    (timezone) => {
      expect(scheduleDescriptor('s', '0 2 * * *', 'a', { timezone }).timezone).toBe(timezone);
    },
  );

  test('takes every name of the IANA database, of which the CDK and Node.js know, with a clock for each', () => {
    const names = zoneNames();
    const ofCdk = Object.values(TimeZone).filter((zone) => zone instanceof TimeZone);
    const missing = [...ofCdk.map(({ timezoneName }) => timezoneName), ...Intl.supportedValuesOf('timeZone')];

    expect(ofCdk.length).toBeGreaterThan(300);
    // For files that say in what zone they are, not for clocks.
    expect(missing.filter((name) => !names.has(name) && name !== 'Factory')).toEqual([]);
    expect([...names].filter((name) => !isTimeZone(name))).toEqual([]);
  });

  // ICU knows all of these, and means Bangladesh, Darwin, Alaska, India, Guadalcanal, … by them.
  const icuNames =
    'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST';
  test.each([
    ...icuNames.split(' '),
    ...['SystemV/AST4ADT', 'US/Pacific-New', 'Etc/Unknown', 'Canada/East-Saskatchewan', 'GMT+1', 'GMT-05:00'],
    ...['UTC+1', 'utc', 'gmt', 'Utc', 'Z', 'z', '+0100', '-05', '+00:00', 'Asia/KOLKATA', 'ASIA/KOLKATA'],
    ...[
      'US/PACIFIC',
      'Asia/kolkata',
      'America/Port-Au-Prince',
      'Etc/GMT+15',
      'Etc/GMT5',
      'Factory',
      'CEST',
      'EDT',
    ],
    ...[
      '',
      'Mars/Olympus',
      'europe/paris',
      'Europe/PARIS',
      '+01:00',
      'Europe/Paris ',
      'local',
      'Europe/Paris\n',
    ],
    ...['Europe', 'Europe/', '/Paris', 'Europe/Paris/x', 'toString', '__proto__', 'Local time', '🕛'],
  ])('refuses the time zone %j', (timezone) => {
    expect(refusalOf(() => scheduleDescriptor('s', '0 2 * * *', 'a', { timezone })).field).toBe('timezone');
  });

  test('names the zone that was meant where only its capitals are wrong', () => {
    const refusal = refusalOf(() =>
      scheduleDescriptor('s', '0 2 * * *', 'a', { timezone: 'america/NEW_york' }),
    );

    expect(refusal.message).toBe('timezone: "america/NEW_york" is no IANA name such as America/New_York');
  });

  test('refuses a time zone for a rate, which would ignore it', () => {
    const refusal = refusalOf(() =>
      scheduleDescriptor('s', 'rate(1 day)', 'a', { timezone: 'Europe/Paris' }),
    );

    expect(refusal).toMatchObject({ code: 'invalid_schedule', field: 'timezone', retryable: false });
  });
});

describe('a cron that is no five-field cron', () => {
  test.each([
    ['61 * * * *', 'minute'],
    ['-1 * * * *', 'minute'],
    ['*/0 * * * *', 'minute'],
    ['*/-1 * * * *', 'minute'],
    ['*/90 * * * *', 'minute'],
    ['5/ * * * *', 'minute'],
    ['/5 * * * *', 'minute'],
    ['1,,2 * * * *', 'minute'],
    ['1, * * * *', 'minute'],
    ['1-2-3 * * * *', 'minute'],
    ['1.5 * * * *', 'minute'],
    ['H 2 * * 7', 'minute'],
    ['0 24 * * *', 'hour'],
    ['0 12-24 * * 7', 'hour'],
    ['0 */25 * * *', 'hour'],
    ['0 0 0 * *', 'dayOfMonth'],
    ['0 0 32 * *', 'dayOfMonth'],
    ['0 0 L * *', 'dayOfMonth'],
    ['0 0 15W * *', 'dayOfMonth'],
    ['0 0 ? * 1', 'dayOfMonth'],
    ['0 0 1 13 *', 'month'],
    ['0 0 1 0 *', 'month'],
    ['0 0 1 JANUARY *', 'month'],
    ['0 0 1 MON *', 'month'],
    ['0 0 * * 8', 'dayOfWeek'],
    ['0 0 * * -1', 'dayOfWeek'],
    ['0 0 * * 1-9', 'dayOfWeek'],
    ['0 0 * * MONDAY', 'dayOfWeek'],
    ['15 2 * * ?', 'dayOfWeek'],
    ['15 2 * * 1L', 'dayOfWeek'],
    ['15 0 * * 4#2', 'dayOfWeek'],
    ['0 0 * * 1/2', 'dayOfWeek'],
    ['0 30 9 * * MON', 'second'],
    ['*/15 * * * * *', 'second'],
    ['0 0 12 1 1 ? 2027', 'second'],
    ['0 0 * *', 'cron'],
    ['', 'cron'],
    ['every day', 'cron'],
    ['@reboot', 'cron'],
    ['@every 5m', 'cron'],
    ['@toString', 'cron'],
    ['0 0 * * *, 0 6 * * *', 'cron'],
    ['CRON_TZ=America/New_York 0 9 * * MON-FRI', 'timezone'],
  ])('%j is refused, naming the field %s', (cron, field) => {
    expect(refusedField(cron)).toBe(field);
  });

  test.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 30-31 FEB *'])(
    '%s never fires',
    (cron) => {
      const refusal = refusalOf(() => scheduleDescriptor('s', cron, 'a'));

      expect(refusal.field).toBe('dayOfMonth');
      expect(refusal.message).toContain('never fires');
    },
  );

  test.each([
    ['0 0 */2 * 1', 'dayOfMonth'],
    ['0 0 1-7 * */2', 'dayOfWeek'],
    ['0 0 */2 * */2', 'dayOfMonth'],
  ])('%s fires on days that suit both, which AWS cannot express', (cron, field) => {
    const refusal = refusalOf(() => scheduleDescriptor('s', cron, 'a'));

    expect(refusal.field).toBe(field);
    expect(refusal.message).toContain('days that suit both');
  });

  test('points to the AWS form for what only that can say', () => {
    for (const cron of ['15 2 * * ?', '15 2 * * 1L', '15 0 * * 4#2', '0 0 15W * *', '0 0 L * *']) {
      expect(refusalOf(() => scheduleDescriptor('s', cron, 'a')).message).toContain(
        'cron(...) with six fields',
      );
    }
  });
});

describe('an agent', () => {
  const action = async () => undefined;

  test('is refused with a schedule that was written by hand and is not valid', () => {
    const define = () =>
      defineAgent({
        name: 'support',
        actions: { digest: action },
        schedules: [{ name: 'daily', cron: '0 24 * * *', action: 'digest' }],
      });

    expect(define).toThrow(InvalidDefinitionError);
    expect(define).toThrow(/agent 'support': schedule 'daily': hour: '24' is outside 0 to 23/);
    expect(define).toThrow(expect.objectContaining({ cause: expect.any(InvalidScheduleError) }));
  });

  test('keeps valid schedules as they are', () => {
    const schedules = [
      scheduleDescriptor('daily', '@daily', 'digest', { timezone: 'Europe/Paris' }),
      { name: 'hourly', cron: 'rate(1 hour)', action: 'prune-raw-memory' },
    ];

    expect(defineAgent({ name: 'support', actions: { digest: action }, schedules }).schedules).toBe(
      schedules,
    );
  });
});
