/** The part of Node.js's zlib that the worker uses. The runtime has it without a compatibility flag. */
declare module 'node:zlib' {
  /** CRC-32 (IEEE) of a text in UTF-8, as an unsigned 32-bit number. */
  export function crc32(data: string): number;
}
