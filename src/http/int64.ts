/** 64-bit integers: ids and `categoryId`. */
import * as z from 'zod/mini';
import { requiredOr } from './schemas.ts';

const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A field of a body, which `parseBody` (json.ts) has made a bigint. */
export function int64() {
  return z.int64({
    error: (issue) =>
      typeof issue.input === 'string'
        ? `${INT64_PROBLEM}, not a string in quotes`
        : requiredOr(INT64_PROBLEM)(issue),
  });
}

/**
 * An id in a path or a query. A codec, because zod knows its output, by which openapi/ describes
 * it.
 */
export function int64Text() {
  return z.codec(
    z.string(INT64_PROBLEM).check(z.regex(/^-?\d+$/, INT64_PROBLEM)),
    z.int64(INT64_PROBLEM),
    { decode: BigInt, encode: String },
  );
}
