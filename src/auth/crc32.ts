/** The polynomial of IEEE 802.3, with its bits reversed. */
const POLYNOMIAL = 0xedb88320;

/**
 * CRC-32 (IEEE 802.3, as in zip and gzip) of an ASCII string, as an unsigned 32-bit number. No table of remainders, and no
 * `node:zlib`: for a string as short as a key, either adds more to the start-up of the worker than it saves later.
 */
export function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i += 1) {
    crc ^= ascii.charCodeAt(i);
    for (let bit = 0; bit < 8; bit += 1) {
      const lowestBit = crc & 1;
      crc >>>= 1;
      if (lowestBit) crc ^= POLYNOMIAL;
    }
  }
  return ~crc >>> 0;
}
