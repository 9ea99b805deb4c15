import { describe, expect, test } from 'vitest';
import { environmentOfKey, generateKey } from '../../src/auth/key-format.ts';
import { crc32 } from '../../src/crc32.ts';

test('the CRC-32 is that of the catalogue of CRC algorithms (CRC-32/ISO-HDLC)', () => {
  expect(crc32('123456789')).toBe(0xcbf43926);
  expect(crc32('')).toBe(0);
});

describe('a key', () => {
  // The checksums are those of zlib: the second one begins with the padding.
  test.each([
    ['animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP', 'local'],
    ['animal_staging_0000000000000000000000000000100If5tQ', 'staging'],
  ])('%s is of the environment %s', (key, environment) => {
    expect(environmentOfKey(key)).toBe(environment);
  });

  test.each(['local', 'staging', 'production'])('can be generated for %s', (environment) => {
    const key = generateKey(environment);
    expect(key).toMatch(new RegExp(`^animal_${environment}_[0-9A-Za-z]{36}$`));
    expect(environmentOfKey(key)).toBe(environment);
    expect(generateKey(environment)).not.toBe(key);
  });

  test('is malformed with any one character changed', () => {
    const key = generateKey('local');
    const others = Array.from(key, (character, i) => {
      const other = character === 'x' ? 'y' : 'x';
      return key.slice(0, i) + other + key.slice(i + 1);
    });
    expect(others.filter((other) => environmentOfKey(other) !== undefined)).toEqual([]);
  });

  test.each([
    '',
    'animal_local_',
    generateKey('test'),
    ` ${generateKey('local')}`,
    `${generateKey('local')}\n`,
    generateKey('local').toUpperCase(),
  ])('is not %j', (text) => expect(environmentOfKey(text)).toBeUndefined());
});
