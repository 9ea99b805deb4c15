/** The pattern of a pet's name. */
import { VISIBLE } from '../src/pets/schema.ts';

/** Control characters, for a class in a regular expression. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

/**
 * The characters up to U+FFFF that `VISIBLE` excludes, for a class in a regular expression. Few tools support the Unicode
 * classes of `VISIBLE` in patterns.
 */
function invisible(): string {
  const codes = Array.from({ length: 0x10000 }, (_, code) => code).filter(
    (code) => !VISIBLE.test(String.fromCharCode(code)),
  );
  const asEscape = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;
  const starts = codes.filter((code) => !codes.includes(code - 1));
  const ends = codes.filter((code) => !codes.includes(code + 1));
  return starts
    .map((start, i) => [...new Set([start, ends[i] ?? start])].map(asEscape).join('-'))
    .join('');
}

export const NAME_PATTERN = `^[^${CONTROL}]*[^${CONTROL}${invisible()}][^${CONTROL}]*$`;
