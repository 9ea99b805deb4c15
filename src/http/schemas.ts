/** Parts of the schemas of all resources. The texts are the problems in the message of a 400. */
import * as z from 'zod/mini';

/** The schema of a body: an object with these fields. */
export function strictBody<Shape extends z.core.$ZodShape>(shape: Shape) {
  const unknownField = `is not a known field: ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? unknownField : 'must be a JSON object'),
  });
}

/** The schema of a query with these parameters. A query is always an object, so an unknown parameter is its only problem. */
export function strictParameters<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: `is not a known parameter: ${Object.keys(shape).join(', ')}`,
  });
}

/** The error of a required field: `is required` if the field is missing, else the problem. */
export function requiredOr(problem: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : problem);
}
