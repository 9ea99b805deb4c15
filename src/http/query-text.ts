/** Checks the text of a query, before any schema. */
import type { HonoRequest } from 'hono';
import { invalidRequest } from './problems.ts';

/** Maximum length of a query, in characters. */
export const MAX_QUERY_LENGTH = 2048;

/** A parameter without a name, which Hono would ignore. It is a mistake, as is an unknown parameter. */
const NAMELESS_PARAMETER = /^=|&=/;

/**
 * Comes before Hono parses the query, because Hono decodes each invalid escape separately, which is slow.
 * https://github.com/honojs/hono/pull/4110
 *
 * @throws ApiError 400 when the query is too long, cannot be decoded, or has a parameter without a name.
 */
export function requireValidQueryText({ url }: HonoRequest): void {
  const start = url.indexOf('?');
  if (start === -1) return;
  const problem = problemOf(url.slice(start + 1));
  if (problem) throw invalidRequest([`query: ${problem}`]);
}

function problemOf(query: string): string | undefined {
  if (query.length > MAX_QUERY_LENGTH) return `must be at most ${MAX_QUERY_LENGTH} characters`;
  if (!isDecodable(query)) return 'must be percent-encoded UTF-8';
  return NAMELESS_PARAMETER.test(query) ? 'every parameter must have a name' : undefined;
}

/** Whether a text is percent-encoded UTF-8, with no broken escape. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
