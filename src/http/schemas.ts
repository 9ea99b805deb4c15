/** Parts of schemas. The texts are the problems in the message of a 400. */
import * as z from 'zod/mini';

export function strictBody<Shape extends z.core.$ZodShape>(shape: Shape) {
  const unknownField = `is not a known field: ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? unknownField : 'must be a JSON object'),
  });
}

export function strictParameters<Shape extends z.core.$ZodShape>(shape: Shape) {
  const names = Object.keys(shape);
  const known = names.length > 0 ? `: ${names.join(', ')}` : '';
  return z.strictObject(shape, { error: `is not a known parameter${known}` });
}

export const NoParameters = strictParameters({});

export function requiredOr(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}

/** The class excludes the blank symbols of Unicode, such as U+2800, by their numbers. */
export const VISIBLE =
  /[^\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Neither trimmed nor normalized. `maxLength` is in Unicode code points, as zod counts. */
export function textOf(maxLength: number) {
  return z.string({ error: requiredOr('must be a string') }).check(
    z.minLength(1, { error: 'must not be empty', abort: true }),
    z.maxLength(maxLength, `must be at most ${maxLength} characters long`),
    z.refine((text: string) => !/\p{Cc}/u.test(text), 'must not contain control characters'),
    z.refine((text: string) => text.isWellFormed(), 'must not contain a lone surrogate'),
    z.regex(VISIBLE, 'must contain a visible character'),
  );
}
