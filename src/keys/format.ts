/**
 * The format of an API key: `animal_<environment>_<30 random characters><6 of checksum>`. Garbage
 * and keys of another environment are told by it without any I/O, and secret scanners find leaks.
 */
import { crc32 } from '../crc32.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

const RANDOM_LENGTH = 30;

const FORMAT = /^animal_(local|staging|production)_[0-9A-Za-z]{36}$/;

/** The environment that a key is for, or `undefined` when it is not an API key of this service. */
export function environmentOfKey(key: string): string | undefined {
  // The format bounds the length, so it is tested before the checksum is computed.
  const environment = FORMAT.exec(key)?.[1];
  if (!environment) return undefined;
  const body = key.slice(0, -CHECKSUM_LENGTH);
  return key === body + checksum(body) ? environment : undefined;
}

/** A new key: some 178 random bits, so that guessing is out of the question. */
export function generateKey(environment: string): string {
  let random = '';
  while (random.length < RANDOM_LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    // 248 is four times 62: above it, the first digits would come up more often.
    if (byte < 248) random += BASE62.charAt(byte % 62);
  }
  const body = `animal_${environment}_${random}`;
  return body + checksum(body);
}

/** CRC-32 of everything before it, in base62, most significant digit first, padded with `0`. */
export function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
