/** Which records of keys an isolate uses without waiting for KV, at given times. */
import { describe, expect, test } from 'vitest';
import { createKeyCache } from '../../src/keys/cache.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const stored = (id: string) =>
  JSON.stringify({ id, label: 'test', createdAt: '2026-11-20T00:00:00Z' });

/** A memory for three records that has the record `leaked` of the key `a`, read at the time 0. */
function memoryOfA() {
  const memory = createKeyCache(3);
  memory.set('a', 0, stored('leaked'));
  return memory;
}

describe('a record', () => {
  test('is fresh for ten seconds', () => {
    const remembered = memoryOfA().get('a', 10 * SECOND - 1);
    expect(remembered?.record.id).toBe('leaked');
    expect(remembered?.refreshAt).toBe(10 * SECOND);
  });

  test('is used for thirty seconds while KV is read again, and no longer', () => {
    const memory = memoryOfA();
    expect(memory.get('a', 30 * SECOND - 1)?.record.id).toBe('leaked');
    expect(memory.get('a', 30 * SECOND)).toBeUndefined();
  });

  test('ages from the start of the read that returned it', () => {
    const memory = memoryOfA();
    memory.set('a', 12 * SECOND, stored('again'));
    expect(memory.get('a', 42 * SECOND - 1)?.record.id).toBe('again');
    expect(memory.get('a', 42 * SECOND)).toBeUndefined();
  });

  test('is not replaced by the result of an earlier read', () => {
    const memory = memoryOfA();
    memory.set('a', 12 * SECOND, stored('new'));
    expect(memory.set('a', 11 * SECOND, stored('old'))?.id).toBe('new');
    expect(memory.get('a', 12 * SECOND)?.record.id).toBe('new');
  });

  test('that KV no longer has is forgotten', () => {
    const memory = memoryOfA();
    expect(memory.set('a', 12 * SECOND, null)).toBeNull();
    expect(memory.get('a', 12 * SECOND)).toBeUndefined();
  });

  test('that became invalid is forgotten', () => {
    const memory = memoryOfA();
    expect(() => memory.set('a', 12 * SECOND, '{')).toThrow('KV holds an invalid key record.');
    expect(memory.get('a', 12 * SECOND)).toBeUndefined();
  });
});

describe('while KV fails', () => {
  test('a record is still used, marked as stale, and KV is read again after ten seconds', () => {
    const memory = memoryOfA();
    expect(memory.keepStale('a', 40 * SECOND, 42 * SECOND)?.record.id).toBe('leaked');
    expect(memory.get('a', 52 * SECOND - 1)).toMatchObject({ stale: true });
    expect(memory.get('a', 52 * SECOND)).toBeUndefined();
  });

  test('a record is kept for an hour after it stopped being fresh', () => {
    const memory = memoryOfA();
    expect(memory.keepStale('a', HOUR, HOUR + 10 * SECOND - 1)?.record.id).toBe('leaked');
    expect(memory.keepStale('a', HOUR, HOUR + 10 * SECOND)).toBeUndefined();
  });

  test('a record that was read after the failed read began is not stale', () => {
    const memory = memoryOfA();
    memory.set('a', 12 * SECOND, stored('new'));
    expect(memory.keepStale('a', 11 * SECOND, 13 * SECOND)?.record.id).toBe('new');
    expect(memory.get('a', 13 * SECOND)).toMatchObject({ stale: false, refreshAt: 22 * SECOND });
  });

  test('a record that is read again is no longer stale', () => {
    const memory = memoryOfA();
    memory.keepStale('a', 40 * SECOND, 42 * SECOND);
    memory.set('a', 52 * SECOND, stored('back'));
    expect(memory.get('a', 53 * SECOND)).toMatchObject({ stale: false });
  });

  test('a key that is not remembered stays unknown', () => {
    expect(memoryOfA().keepStale('b', 0, 0)).toBeUndefined();
  });
});

test('the memory has at most its maximum of records, and forgets the least recently read', () => {
  const memory = memoryOfA();
  memory.set('b', 1, stored('b'));
  memory.set('c', 2, stored('c'));
  memory.set('a', 3, stored('a'));
  memory.set('d', 4, stored('d'));
  const known = ['a', 'b', 'c', 'd'].filter((key) => memory.get(key, 5));
  expect(known).toEqual(['a', 'c', 'd']);
});

test('unknown keys are not remembered', () => {
  const memory = memoryOfA();
  for (const guess of ['b', 'c', 'd']) memory.set(guess, 1, null);
  expect(memory.get('a', 2)?.record.id).toBe('leaked');
});
