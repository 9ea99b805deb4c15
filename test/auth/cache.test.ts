/** Which records of keys an isolate uses without waiting for KV, at given times. */
import { describe, expect, test } from 'vitest';
import { createKeyCache } from '../../src/auth/keys/cache.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const stored = (id: string) =>
  JSON.stringify({ id, label: 'test', createdAt: '2026-11-20T00:00:00Z' });

/** A cache of three records that has the record `leaked` of the key `a`, read at the time 0. */
function cacheOfA() {
  const cache = createKeyCache(3);
  cache.set('a', 0, stored('leaked'));
  return cache;
}

describe('a record', () => {
  test('is fresh for ten seconds', () => {
    const cached = cacheOfA().get('a', 10 * SECOND - 1);
    expect(cached?.record.id).toBe('leaked');
    expect(cached?.refreshAt).toBe(10 * SECOND);
  });

  test('is used for thirty seconds while KV is read again, and no longer', () => {
    const cache = cacheOfA();
    expect(cache.get('a', 30 * SECOND - 1)?.record.id).toBe('leaked');
    expect(cache.get('a', 30 * SECOND)).toBeUndefined();
  });

  test('ages from the start of the read that returned it', () => {
    const cache = cacheOfA();
    cache.set('a', 12 * SECOND, stored('again'));
    expect(cache.get('a', 42 * SECOND - 1)?.record.id).toBe('again');
    expect(cache.get('a', 42 * SECOND)).toBeUndefined();
  });

  test('is not replaced by the result of an earlier read', () => {
    const cache = cacheOfA();
    cache.set('a', 12 * SECOND, stored('new'));
    expect(cache.set('a', 11 * SECOND, stored('old'))?.id).toBe('new');
    expect(cache.get('a', 12 * SECOND)?.record.id).toBe('new');
  });

  test('is evicted when KV no longer has it', () => {
    const cache = cacheOfA();
    expect(cache.set('a', 12 * SECOND, null)).toBeNull();
    expect(cache.get('a', 12 * SECOND)).toBeUndefined();
  });

  test('is evicted when it became invalid', () => {
    const cache = cacheOfA();
    expect(() => cache.set('a', 12 * SECOND, '{')).toThrow('KV holds an invalid key record.');
    expect(cache.get('a', 12 * SECOND)).toBeUndefined();
  });
});

describe('while KV fails', () => {
  test('a record is still used, marked as stale, and KV is read again after ten seconds', () => {
    const cache = cacheOfA();
    expect(cache.keepStale('a', 40 * SECOND, 42 * SECOND)?.record.id).toBe('leaked');
    expect(cache.get('a', 52 * SECOND - 1)).toMatchObject({ stale: true });
    expect(cache.get('a', 52 * SECOND)).toBeUndefined();
  });

  test('a record is kept for an hour after it stopped being fresh', () => {
    const cache = cacheOfA();
    expect(cache.keepStale('a', HOUR, HOUR + 10 * SECOND - 1)?.record.id).toBe('leaked');
    expect(cache.keepStale('a', HOUR, HOUR + 10 * SECOND)).toBeUndefined();
  });

  test('a record that was read after the failed read began is not stale', () => {
    const cache = cacheOfA();
    cache.set('a', 12 * SECOND, stored('new'));
    expect(cache.keepStale('a', 11 * SECOND, 13 * SECOND)?.record.id).toBe('new');
    expect(cache.get('a', 13 * SECOND)).toMatchObject({ stale: false, refreshAt: 22 * SECOND });
  });

  test('a record that is read again is no longer stale', () => {
    const cache = cacheOfA();
    cache.keepStale('a', 40 * SECOND, 42 * SECOND);
    cache.set('a', 52 * SECOND, stored('back'));
    expect(cache.get('a', 53 * SECOND)).toMatchObject({ stale: false });
  });

  test('a key that is not cached stays unknown', () => {
    expect(cacheOfA().keepStale('b', 0, 0)).toBeUndefined();
  });
});

test('the cache has at most its maximum of records, and evicts the least recently read', () => {
  const cache = cacheOfA();
  cache.set('b', 1, stored('b'));
  cache.set('c', 2, stored('c'));
  cache.set('a', 3, stored('a'));
  cache.set('d', 4, stored('d'));
  const known = ['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 5));
  expect(known).toEqual(['a', 'c', 'd']);
});

test('unknown keys are not cached', () => {
  const cache = cacheOfA();
  for (const guess of ['b', 'c', 'd']) cache.set(guess, 1, null);
  expect(cache.get('a', 2)?.record.id).toBe('leaked');
});
