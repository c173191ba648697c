import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isPlace,
  justAfter,
  justBefore,
  placeRecords,
  placesOf,
  timeOfPlace,
} from '../../../lib/memory/record-place.ts';

const times = fc.integer({
  min: Date.parse('0001-01-01T00:00:00Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});
/** Of up to fifteen digits, the next one included. */
const arrivals = fc.integer({ min: 1, max: 1e15 - 2 });
const placeOf = (at: number, arrival: number) => {
  const records = [{ id: 'm', at, dump: {} as never, digest: new Uint8Array() }];
  const request = { records, receivedAt: 0, retentionSecs: undefined, requestId: undefined };
  return placeRecords(request, 0, arrival)[0]?.place ?? '';
};

test('places sort by time, then by arrival, and tell their time', () => {
  const property = fc.property(times, times, arrivals, arrivals, (at, other, arrival, later) => {
    const [one, two] = [placeOf(at, arrival), placeOf(other, later)];

    expect(one < two).toBe(at < other || (at === other && arrival < later));
    expect([isPlace(one), timeOfPlace(one)]).toEqual([true, at]);
  });
  fc.assert(property);
});

test('a range holds the places of its times, both ends included; one without ends holds all', () => {
  const property = fc.property(times, times, times, arrivals, (at, from, to, arrival) => {
    const place = placeOf(at, arrival);
    const holds = (range: Parameters<typeof placesOf>[0]) => {
      const { first, last } = placesOf(range);
      return place >= first && place <= last;
    };

    expect(holds({ from, to })).toBe(at >= from && at <= to);
    expect([holds({ from: at, to: at }), holds({}), holds({ from: at }), holds({ to: at })]).not.toContain(
      false,
    );
    expect([holds({ from: at + 1 }), holds({ to: at - 1 })]).not.toContain(true);
  });
  fc.assert(property);
});

test.each([1e300, 9e15, -1e300, -9e15])('a bound of %d holds all places or none', (bound) => {
  const [early, late] = [
    placeOf(Date.parse('0001-01-01T00:00:00Z'), 1),
    placeOf(Date.parse('9999-12-31'), 1),
  ];
  const { first } = placesOf({ from: bound });
  const { last } = placesOf({ to: bound });

  expect([early, late].every((place) => place >= first)).toBe(bound < 0);
  expect([early, late].every((place) => place <= last)).toBe(bound > 0);
});

test('a bound just after a place, or just before it, parts it from its neighbours', () => {
  fc.assert(
    fc.property(times, arrivals, (at, arrival) => {
      const [before, place, after] = [
        placeOf(at, arrival - 1),
        placeOf(at, arrival),
        placeOf(at, arrival + 1),
      ];

      const inOrder = [before, justBefore(place), place, justAfter(place), after];
      expect(inOrder.toSorted()).toEqual(inOrder);
      expect(new Set(inOrder).size).toBe(5);
    }),
  );
});

test.each(['', '1.2', `${placeOf(0, 1)}0`, `0${placeOf(0, 1)}`, placeOf(0, 1).replace('.', '-')])(
  '%j is no place',
  (text) => {
    expect(isPlace(text)).toBe(false);
  },
);
