/** Schemas of 64-bit integers, which are the identifiers of the interface. */
import * as z from 'zod/mini';
import { lazy } from '../lazy.ts';
import { parseInt64 } from './json.ts';
import { textSchema } from './text.ts';

export const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A member of a body: `parseJson` makes only an int64 a bigint. */
export const Int64 = lazy(() => z.bigint({ error: requiredOr(INT64_PROBLEM) }));

/** An id in a path. */
export function pathId() {
  return textSchema({
    problem: INT64_PROBLEM,
    parse: (text) => (/^-?[0-9]+$/.test(text) ? parseInt64(text) : undefined),
  });
}

/** The error of a required field: `is required` if the field is missing, else the problem. */
export function requiredOr(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}
