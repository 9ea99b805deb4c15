/** The polynomial of IEEE 802.3, with its bits reversed. */
const POLYNOMIAL = 0xedb88320;

/**
 * CRC-32 (IEEE 802.3, as in zip and gzip) of an ASCII string, as an unsigned 32-bit number. For a short string a table of
 * remainders saves less time than its computation adds to the start-up of the worker, and so does `node:zlib`.
 */
export function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i += 1) {
    crc ^= ascii.charCodeAt(i);
    for (let bit = 0; bit < 8; bit += 1) {
      const divides = crc & 1;
      crc >>>= 1;
      if (divides) crc ^= POLYNOMIAL;
    }
  }
  return ~crc >>> 0;
}
