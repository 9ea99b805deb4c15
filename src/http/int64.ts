/** The 64-bit integers of the interface: identifiers. */
import * as z from 'zod/mini';
import { parseInt64 } from './json.ts';

export const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A member of a body. It arrives as a bigint: see `parseJson`. */
export const Int64 = z.int64({ error: required(INT64_PROBLEM) });

/** An id in a path. */
export function pathId() {
  return z.pipe(
    z.string().check(z.regex(/^-?[0-9]+$/, INT64_PROBLEM)),
    z.transform((digits: string, context) => {
      const id = parseInt64(digits);
      if (id !== undefined) return id;
      context.issues.push({ code: 'custom', message: INT64_PROBLEM, input: digits });
      return z.NEVER;
    }),
  );
}

/** The error of a required field: `is required` when it is missing, else the problem. */
export function required(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}
