/** Which key records an isolate uses without waiting for KV, at given times. */
import { describe, expect, test } from 'vitest';
import { createKeyCache } from '../../src/auth/keys/cache.ts';

const SECOND = 1_000;

const record = (id: string) => ({ id, label: 'test', createdAt: '2026-11-20T00:00:00Z' });

/** A cache of three records that has the record `leaked` of the key `a`, read at the time 0. */
function cacheOfA() {
  const cache = createKeyCache(3);
  cache.put('a', 0, record('leaked'));
  return cache;
}

describe('a record', () => {
  test('is fresh for ten seconds, then used for twenty while KV is read again', () => {
    const cache = cacheOfA();
    expect(cache.get('a', 30 * SECOND - 1)).toMatchObject({ refreshAt: 10 * SECOND });
    expect(cache.get('a', 30 * SECOND)).toBeUndefined();
  });

  test('is not replaced by the result of an earlier read', () => {
    const cache = cacheOfA();
    cache.put('a', 12 * SECOND, record('new'));
    cache.put('a', 11 * SECOND, record('old'));
    expect(cache.get('a', 42 * SECOND - 1)).toMatchObject({ record: { id: 'new' } });
    expect(cache.get('a', 42 * SECOND)).toBeUndefined();
  });

  test('is removed when KV no longer has it', () => {
    const cache = cacheOfA();
    cache.put('a', 12 * SECOND, null);
    expect(cache.get('a', 12 * SECOND)).toBeUndefined();
  });
});

describe('while KV fails', () => {
  test('a record is stale, and KV is read again after ten seconds', () => {
    const cache = cacheOfA();
    const kept = cache.markFailedRead('a', 40 * SECOND, 42 * SECOND);
    expect(kept).toMatchObject({ record: { id: 'leaked' } });
    expect(cache.get('a', 52 * SECOND - 1)).toMatchObject({ lastReadFailed: true });
    expect(cache.get('a', 52 * SECOND)).toBeUndefined();
    cache.put('a', 52 * SECOND, record('back'));
    expect(cache.get('a', 53 * SECOND)).toMatchObject({ lastReadFailed: false });
  });

  test('a record that was read after the failed read began is not stale', () => {
    const cache = cacheOfA();
    cache.put('a', 12 * SECOND, record('new'));
    cache.markFailedRead('a', 11 * SECOND, 13 * SECOND);
    const cached = { record: { id: 'new' }, lastReadFailed: false, refreshAt: 22 * SECOND };
    expect(cache.get('a', 13 * SECOND)).toMatchObject(cached);
  });
});

test('a full cache removes the record that was read longest ago', () => {
  const cache = cacheOfA();
  cache.put('b', 1, record('b'));
  cache.put('c', 2, record('c'));
  cache.put('a', 3, record('a'));
  cache.put('d', 4, record('d'));
  const cached = ['a', 'b', 'c', 'd'].filter((key) => cache.get(key, 5));
  expect(cached).toEqual(['a', 'c', 'd']);
});

test('unknown keys do not remove records', () => {
  const cache = cacheOfA();
  for (const guess of ['b', 'c', 'd']) cache.put(guess, 1, null);
  expect(cache.get('a', 2)).toBeDefined();
});
