import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { checksum, environmentOfKey } from '../../src/auth/key-format.ts';

const KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

// The checksums are those of zlib: the second one begins with the padding.
test.each([
  [KEY, 'local'],
  ['animal_staging_0000000000000000000000000000100If5tQ', 'staging'],
])('the key %s is of %s', (key, environment) => expect(environmentOfKey(key)).toBe(environment));

/** With the checksum of its 31 random characters. */
const LONGER = `animal_local_${'0'.repeat(31)}`;

test.each([
  ...['', generateKey('test'), ` ${generateKey('local')}`, `${generateKey('local')}\n`],
  KEY.replace('local', 'staging'),
  KEY.replace('This', 'That'),
  `${KEY.slice(0, -6)}000000`,
  LONGER + checksum(LONGER),
])('%j is not a key', (text) => expect(environmentOfKey(text)).toBeUndefined());

test('a generated key can have every digit', () => {
  const guessable = vi.spyOn(Math, 'random');
  const digits = Array.from({ length: 200 }, () => generateKey('local').slice(-36, -6)).join('');
  expect(new Set(digits).size).toBe(62);
  expect(guessable).not.toHaveBeenCalled();
  guessable.mockRestore();
});
