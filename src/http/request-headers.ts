/** The headers of a request, except `Authorization` and those of the body. */
import type { Context } from 'hono';
import type { AuthenticatedDefinition } from '../operation/definition.ts';
import { invalidRequest } from './problems.ts';

/** https://developers.cloudflare.com/d1/worker-api/d1-database/#withsession */
export const SESSION_STARTS = ['first-unconstrained', 'first-primary'];

/** Wider than D1's bookmarks today. */
export const ACCEPTED_BOOKMARK = /^[A-Za-z0-9_.~+/=:-]{1,256}$/;

/** In characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** The preconditions of RFC 9110, section 13.1, that compare an ETag. */
const PRECONDITIONS = ['If-Match', 'If-None-Match'];

/** @throws ApiError 400 that names every invalid header. */
export function requireValidHeaders(c: Context, definition: AuthenticatedDefinition): void {
  const idempotencyKey = definition.acceptsIdempotencyKey ? idempotencyKeyOf(c) : undefined;
  const problems = [
    idempotencyKeyProblem(idempotencyKey),
    bookmarkProblem(bookmarkOf(c)),
    ...preconditionProblems(c),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw invalidRequest(problems);
}

export function bookmarkOf({ req }: Context): string {
  return req.header('X-D1-Bookmark') ?? 'first-primary';
}

/** The draft of `Idempotency-Key` defines a quoted string, but most clients send no quotes. */
export function idempotencyKeyOf({ req }: Pick<Context, 'req'>): string | undefined {
  return req.header('Idempotency-Key')?.replace(/^"(.*)"$/, '$1');
}

function idempotencyKeyProblem(idempotencyKey: string | undefined): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (idempotencyKey.length > MAX_IDEMPOTENCY_KEY_LENGTH || !/^[ -~]+$/.test(idempotencyKey)) {
    return `Idempotency-Key: must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters`;
  }
  // The runtime joins repeated headers with a comma and a space.
  return idempotencyKey.includes(', ')
    ? 'Idempotency-Key: must be given only once, and must not contain a comma followed by a space'
    : undefined;
}

function bookmarkProblem(bookmark: string): string | undefined {
  if (SESSION_STARTS.includes(bookmark)) return undefined;
  // Not in the pattern, which the description shows: few tools support a look-ahead.
  const isMisspelledStart = bookmark.toLowerCase().startsWith('first');
  return ACCEPTED_BOOKMARK.test(bookmark) && !isMisspelledStart
    ? undefined
    : 'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';
}

/** `If-Unmodified-Since` is ignored, as RFC 9110, section 13.1.4, demands. */
function preconditionProblems(c: Context): string[] {
  if (c.req.method !== 'PATCH' && c.req.method !== 'DELETE') return [];
  return PRECONDITIONS.filter((name) => c.req.header(name) !== undefined).map(
    (name) => `${name}: is not supported, because responses have no ETag`,
  );
}
