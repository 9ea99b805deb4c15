/** Generates API keys. */
import { randomInt } from 'node:crypto';
import { BASE62, checksum, RANDOM_LENGTH } from '../../src/auth/key-format.ts';

/** Generates a key with about 178 random bits, too many to guess. */
export function generateKey(environment: string): string {
  const digits = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(randomInt(62)));
  const withoutChecksum = `animal_${environment}_${digits.join('')}`;
  return withoutChecksum + checksum(withoutChecksum);
}
