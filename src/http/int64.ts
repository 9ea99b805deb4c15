/** The 64-bit integers of the interface: identifiers. */
import * as z from 'zod/mini';
import { lazy } from '../lazy.ts';
import { parseInt64 } from './json.ts';
import { textOf } from './text.ts';

export const INT64_PROBLEM = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** A member of a body. It arrives as a bigint: see `parseJson`. */
export const Int64 = lazy(() => z.int64({ error: required(INT64_PROBLEM) }));

/** An id in a path. */
export function pathId() {
  return textOf(INT64_PROBLEM, (text) => (/^-?[0-9]+$/.test(text) ? parseInt64(text) : undefined));
}

/** The error of a required field: `is required` when it is missing, else the problem. */
export function required(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}
