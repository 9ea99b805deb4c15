import { expect, test } from 'vitest';
import { barsOf } from '../../bench/bars.ts';
import type { Usage } from '../../bench/meter.ts';
import type { Results } from '../../bench/results.ts';

const use = (rowsRead: number, rowsWritten = 0): Usage => ({
  ...{ rowsRead, rowsWritten, kvReads: 0, statements: [] },
});
const time = { median: 1, low: 1, high: 1 };

function results(changes: Partial<Results> = {}): Results {
  return {
    date: '2026-11-20T00:00:00.000Z',
    machine: { processor: '', memory: '', system: '', node: '', wrangler: '', workerd: '' },
    races: {
      'A list of 20': {
        'store, list of 20': [90, 99],
        '(b) list of 20': [100, 100],
        '(c) list of 20': [80, 81],
      },
      'A list of 100': { 'store, list of 100': [95, 95], '(b) list of 100': [100, 100] },
      'A create': { 'store, create': [85, 85], '(b) create': [100, 100] },
      Sizes: { 'first page among 1,000': [100, 100], 'deep page among 1,000,000': [95, 95] },
    },
    sizes: [
      {
        ...{ pets: 1000, databaseBytes: 1 },
        usage: { 'list of 20, first page': use(21), 'list of 100': use(101), create: use(4, 3) },
      },
    ],
    plans: {},
    kvReadsPerThousand: 1,
    weight: { bytes: 1, gzipBytes: 65_536, packages: {}, startMs: time },
    cpu: {},
    ...changes,
  };
}

const missed = (changes?: Partial<Results>) =>
  barsOf(results(changes)).flatMap(({ figure, reached }) => (reached ? [] : [figure]));

test('what just reaches its bar has reached it', () => {
  expect(barsOf(results())).toHaveLength(9);
  expect(missed()).toEqual([]);
});

test('each figure that falls short is told', () => {
  const { races } = results();
  const slower = { ...races, 'A create': { 'store, create': [84], '(b) create': [100] } };
  expect(missed({ races: slower })).toEqual(['create against (b) inserting']);
  const usage = { 'list of 20 sold, deep page': use(22), create: use(4, 4) };
  expect(missed({ sizes: [{ pets: 1000, databaseBytes: 1, usage }] })).toEqual([
    'rows read by a list, beyond its limit',
    'rows written by a create without Idempotency-Key',
  ]);
  expect(missed({ kvReadsPerThousand: 2 })).toHaveLength(1);
});

test('a race that was not run is not taken for won', () => {
  expect(missed({ races: {} })).toHaveLength(5);
});
