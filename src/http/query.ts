/** Checks that need no schema: the text of every query is valid, and an operation without a query gets no parameters. */
import { createMiddleware } from 'hono/factory';
import type { ApiError } from '../errors.ts';
import { invalidRequest, shortened } from './problems.ts';

/** Maximum length of a query, in characters. */
export const MAX_SEARCH_LENGTH = 2048;

/** A parameter without a name, which Hono would ignore. It is a mistake, as is an unknown parameter. */
const NAMELESS_PARAMETER = /^=|&=/;

/** Comes before Hono parses the query, because Hono decodes each invalid escape separately, which is slow. */
export const requireValidQueryText = createMiddleware(async ({ req }, next) => {
  const searchStart = req.url.indexOf('?');
  if (searchStart !== -1) {
    const problem = problemOf(req.url.slice(searchStart + 1));
    if (problem) throw invalidRequest([`query: ${problem}`]);
  }
  await next();
});

function problemOf(search: string): string | undefined {
  if (search.length > MAX_SEARCH_LENGTH) return `must be at most ${MAX_SEARCH_LENGTH} characters`;
  if (!isDecodable(search)) return 'must be percent-encoded UTF-8';
  return NAMELESS_PARAMETER.test(search) ? 'every parameter must have a name' : undefined;
}

function isDecodable(search: string): boolean {
  try {
    decodeURIComponent(search);
    return true;
  } catch {
    return false;
  }
}

/** For an operation without a query. Not an empty schema, because zod takes more CPU time than this check. */
export const requireNoParameters = createMiddleware(async ({ req }, next) => {
  // Empty for `?` and `?&`.
  const names = Object.keys(req.queries());
  if (names.length > 0) throw unknownParameters(names);
  await next();
});

export function unknownParameters(names: string[]): ApiError {
  return invalidRequest(names.map((name) => `${shortened(name)}: is not a known parameter`));
}
