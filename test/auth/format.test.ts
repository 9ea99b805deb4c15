import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { environmentOfKey } from '../../src/auth/key-format.ts';

const KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

// The checksums are those of zlib: the second one begins with the padding.
test.each([
  [KEY, 'local'],
  ['animal_staging_0000000000000000000000000000100If5tQ', 'staging'],
])('the key %s is of %s', (key, environment) => expect(environmentOfKey(key)).toBe(environment));

test.each([
  ...['', ` ${KEY}`, `${KEY}\n`],
  KEY.replace('local', 'staging'),
  KEY.replace('This', 'That'),
  `${KEY.slice(0, -6)}000000`,
  // With their checksums: 29 and 31 digits, underscores, no environment.
  'animal_local_000000000000000000000000000000gOfZb',
  'animal_local_000000000000000000000000000000038lFOS',
  'animal_local_______________________________1uvLmv',
  'animal_test_00000000000000000000000000000042l1Th',
])('%j is not a key', (text) => expect(environmentOfKey(text)).toBeUndefined());

test('a generated key can have every digit', () => {
  const guessable = vi.spyOn(Math, 'random');
  const digits = Array.from({ length: 200 }, () => generateKey('local').slice(-36, -6)).join('');
  expect(new Set(digits).size).toBe(62);
  expect(guessable).not.toHaveBeenCalled();
});
