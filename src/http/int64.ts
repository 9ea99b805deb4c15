/** Numbers of a request. `parseBody` makes a bigint of an int64, and its schema decides. */
import * as z from 'zod/mini';
import { requiredOr } from './schemas.ts';

const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A field of a body, such as an id. */
export function int64() {
  return z.int64({
    error: (issue) =>
      typeof issue.input === 'string'
        ? `${INT64_PROBLEM}, not a string in quotes`
        : requiredOr(INT64_PROBLEM)(issue),
  });
}

/** A field of a body, such as a price or a coordinate: a double. */
export function decimal() {
  const problem = `must be a number, and an integer only up to ${Number.MAX_SAFE_INTEGER}`;
  return z.pipe(
    z.transform((value) => (typeof value === 'bigint' ? Number(value) : value)),
    z.number({ error: requiredOr(problem) }).check(z.refine(isExact, problem)),
  );
}

function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || !Number.isInteger(value);
}

/** An id in a path or a query. A codec, so that openapi/ describes its output. */
export function int64Text() {
  return z.codec(
    z.string(INT64_PROBLEM).check(z.regex(/^-?\d+$/, INT64_PROBLEM)),
    z.int64(INT64_PROBLEM),
    { decode: BigInt, encode: String },
  );
}
