/** The polynomial of IEEE 802.3, with its bits reversed. */
const POLYNOMIAL = 0xedb88320;

/** CRC-32 of an ASCII string. A table, or `node:zlib`, takes more time to start than it saves. */
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
