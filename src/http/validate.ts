/**
 * Turns the problems of a request into a 400. `operation` (operation.ts) validates the parts of a request in this order: the text
 * of the query, the headers, and then, by `zValidator`, the path, the query and the body. The first invalid part is reported.
 */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import { ApiError } from '../errors.ts';

/** Maximum length of a query, in characters. */
export const MAX_SEARCH_LENGTH = 2048;
/** Maximum number of problems in a message. */
export const MAX_PROBLEMS = 20;
/** Maximum length of the name of an unknown field or parameter in a message, in UTF-16 code units. */
const MAX_SHOWN_NAME = 64;

/** A query with a parameter without a name, which Hono would ignore. It is a mistake, as is an unknown parameter. */
const NAMELESS_PARAMETER = /^=|&=/;

/** The schema of a body: an object with these fields. */
export function strictBody<Shape extends z.core.$ZodShape>(shape: Shape) {
  const unknownField = `is not a known field: ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? unknownField : 'must be a JSON object'),
  });
}

/** The schema of a query with these parameters. */
export function strictParameters<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: `is not a known parameter: ${Object.keys(shape).join(', ')}`,
  });
}

/** The result of a validation, as `zValidator` passes it to its hook. `data` is the part before the validation. */
type Result = { target: string; data: Record<string, unknown>; error?: z.core.$ZodError };

/**
 * The hook of every `zValidator`.
 *
 * @throws ApiError 400 that names the problems of the part, as `name: problem`.
 */
export function rejectInvalid({ target, data, error }: Result): void {
  if (!error) return;
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => `${shortened(name)}: ${issue.message}`);
    }
    // A problem of the whole body has no path.
    const name = String(issue.path[0] ?? 'body');
    // Hono's validator makes an array of a repeated parameter.
    const isRepeated = target === 'query' && Array.isArray(data[name]);
    return `${name}: ${isRepeated ? 'must be given only once' : issue.message}`;
  });
  throw invalidRequest(problems);
}

/**
 * Validates the text of the query, before Hono parses it: Hono decodes each invalid escape separately, which is slow.
 *
 * @throws ApiError 400, also for parameters where none is accepted.
 */
export function validateQueryText(
  { req }: Context,
  { acceptsParameters }: { acceptsParameters: boolean },
): void {
  const searchStart = req.url.indexOf('?');
  if (searchStart === -1) return;
  const search = req.url.slice(searchStart + 1);
  if (search.length > MAX_SEARCH_LENGTH) {
    throw invalidRequest([`query: must be at most ${MAX_SEARCH_LENGTH} characters`]);
  }
  if (!isDecodable(search)) throw invalidRequest(['query: must be percent-encoded UTF-8']);
  if (NAMELESS_PARAMETER.test(search)) {
    throw invalidRequest(['query: every parameter must have a name']);
  }
  if (acceptsParameters) return;
  // Empty for `?` and `?&`.
  const unknown = Object.keys(req.queries());
  if (unknown.length > 0) throw unknownParameters(unknown);
}

/** The 400 for parameters of an operation that accepts none. */
export function unknownParameters(names: string[]): ApiError {
  return invalidRequest(names.map((name) => `${shortened(name)}: is not a known parameter`));
}

function isDecodable(search: string): boolean {
  try {
    decodeURIComponent(search);
    return true;
  } catch {
    return false;
  }
}

/** The 400 that lists the problems of a request. */
export function invalidRequest(problems: string[]): ApiError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const hidden = problems.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return new ApiError('invalid_request', shown.join('; '));
}

/** The name of an unknown member, in quotes if it is empty. A cut can split a surrogate pair. */
function shortened(name: string): string {
  if (name === '') return '""';
  const beginning = name.slice(0, MAX_SHOWN_NAME).toWellFormed();
  return name.length > MAX_SHOWN_NAME ? `${beginning}…` : beginning;
}
