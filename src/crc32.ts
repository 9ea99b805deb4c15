/** The remainder of each byte. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const polynomial = remainder & 1 ? 0xedb88320 : 0;
    remainder = (remainder >>> 1) ^ polynomial;
  }
  return remainder;
});

/**
 * CRC-32 (IEEE 802.3, as in zip and gzip) of an ASCII string, as an unsigned 32-bit number. Not that of `node:zlib`, whose
 * import takes a third of the worker's start-up time.
 */
export function crc32(ascii: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < ascii.length; i += 1) {
    const remainder = TABLE[(crc ^ ascii.charCodeAt(i)) & 0xff] ?? 0;
    crc = remainder ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}
