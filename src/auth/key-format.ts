/** The format of an API key, so that malformed ones cost no I/O, and scanners find leaked ones. */
import { crc32 } from './crc32.ts';

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

const FORMAT = new RegExp(
  `^animal_(local|staging|production)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`,
);

export function environmentOfKey(key: string): string | undefined {
  const environment = FORMAT.exec(key)?.[1];
  if (!environment) return undefined;
  const withoutChecksum = key.slice(0, -CHECKSUM_LENGTH);
  return key === withoutChecksum + checksum(withoutChecksum) ? environment : undefined;
}

/** CRC-32 of the rest of the key, in base62, most significant digit first, padded with `0`. */
export function checksum(withoutChecksum: string): string {
  let remaining = crc32(withoutChecksum);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = BASE62.charAt(remaining % 62) + digits;
    remaining = Math.floor(remaining / 62);
  }
  return digits;
}
