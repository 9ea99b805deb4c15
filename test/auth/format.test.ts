import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksum, environmentOfKey, generateKey } from '../../src/auth/keys/format.ts';
import { crc32 } from '../../src/crc32.ts';

test('crc32 matches the check value of its definition', () => {
  // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
  expect(crc32('123456789')).toBe(0xcbf43926);
  expect(crc32('')).toBe(0);
});

describe('the checksum', () => {
  test('is the CRC-32 in base62, most significant digit first', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (body) => {
        const value = Array.from(checksum(body)).reduce(
          (sum, digit) => sum * 62 + digits.indexOf(digit),
          0,
        );
        expect(value).toBe(crc32(body));
      }),
    );
  });

  test('is padded with zeros to six digits', () => {
    // 62^5 > 2^29: about every fifth checksum begins with zero.
    const sums = Array.from({ length: 200 }, (_, i) => checksum(`animal_local_${i}`));
    for (const sum of sums) expect(sum).toMatch(/^[0-9A-Za-z]{6}$/);
    expect(sums.some((sum) => sum.startsWith('0'))).toBe(true);
  });
});

describe('environmentOfKey', () => {
  test.each(['local', 'staging', 'production'])('recognizes a key of %s', (environment) => {
    expect(environmentOfKey(generateKey(environment))).toBe(environment);
  });

  test('rejects a key with any one character changed', () => {
    const key = generateKey('local');
    for (let i = 0; i < key.length; i += 1) {
      const other = key[i] === 'x' ? 'y' : 'x';
      expect(environmentOfKey(key.slice(0, i) + other + key.slice(i + 1))).toBeUndefined();
    }
  });

  test.each([
    '',
    'animal',
    'animal_local_',
    generateKey('test'),
    ` ${generateKey('local')}`,
    `${generateKey('local')}\n`,
    generateKey('local').toUpperCase(),
  ])('rejects %j', (key) => expect(environmentOfKey(key)).toBeUndefined());
});
