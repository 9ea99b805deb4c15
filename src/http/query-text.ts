/** Checks the text of a query, before any schema. */
import type { Context, Next } from 'hono';
import { invalidRequest } from './problems.ts';

export const MAX_QUERY_LENGTH = 2048;

/** Hono ignores a parameter without a name. It is rejected, like an unknown one. */
const NAMELESS_PARAMETER = /^=|&=/;

/**
 * Before Hono parses the query, because Hono decodes each invalid escape separately:
 * https://github.com/honojs/hono/pull/4110
 *
 * @throws ApiError 400
 */
export async function requireValidQueryText({ req }: Context, next: Next): Promise<void> {
  const start = req.url.indexOf('?');
  const problem = start === -1 ? undefined : problemOf(req.url.slice(start + 1));
  if (problem) throw invalidRequest([`query: ${problem}`]);
  await next();
}

function problemOf(query: string): string | undefined {
  if (query.length > MAX_QUERY_LENGTH) return `must be at most ${MAX_QUERY_LENGTH} characters`;
  if (!isDecodable(query)) return 'must be percent-encoded UTF-8';
  return NAMELESS_PARAMETER.test(query) ? 'every parameter must have a name' : undefined;
}

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
