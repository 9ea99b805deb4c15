/** Generates API keys. */
import { BASE62, checksum, RANDOM_LENGTH } from '../../src/auth/key-format.ts';

/** Generates a key with about 178 random bits, too many to guess. */
export function generateKey(environment: string): string {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    // The default is only for the compiler: the array has one byte.
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    // 248 is 4 × 62. Larger bytes would make the first digits more frequent.
    if (byte < 248) random += BASE62.charAt(byte % 62);
  }
  const unchecked = `animal_${environment}_${random}`;
  return unchecked + checksum(unchecked);
}
