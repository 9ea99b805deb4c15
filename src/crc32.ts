/**
 * CRC-32 (IEEE 802.3, as in zip and gzip) of an ASCII string, as an unsigned 32-bit number. Computed bit by bit:
 * for inputs of about fifty characters a lookup table is not worth its lines.
 */
export function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i += 1) {
    crc ^= ascii.charCodeAt(i);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
