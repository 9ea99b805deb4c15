/** The headers of a request that needs an API key, except `Authorization` and those of the body. */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition } from '../operation/definition.ts';
import { invalidRequest } from './problems.ts';

/** https://developers.cloudflare.com/d1/worker-api/d1-database/#withsession */
const SESSION_STARTS = ['first-unconstrained', 'first-primary'];

/** D1's bookmarks today. Cloudflare documents them as opaque. */
const D1_BOOKMARK = /^([0-9a-f]{8}-){3}[0-9a-f]{32}$/;
/** The accepted format: wider, because D1 may change its own. */
export const ACCEPTED_BOOKMARK = /^[A-Za-z0-9_.~+/=:-]{1,256}$/;

/** In characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** The preconditions of RFC 9110, section 13.1, that compare an ETag. */
const PRECONDITIONS = ['If-Match', 'If-None-Match'];

/**
 * Sets the idempotency key of the request, and its D1 session.
 *
 * @throws ApiError 400 that names every invalid header.
 */
export function readHeaders({
  scope,
  acceptsIdempotencyKey,
}: AuthenticatedDefinition): MiddlewareHandler<AppEnv> {
  return async function readHeaders(c, next) {
    const bookmark = c.req.header('X-D1-Bookmark') ?? 'first-primary';
    const idempotencyKey = acceptsIdempotencyKey
      ? withoutQuotes(c.req.header('Idempotency-Key'))
      : undefined;
    const problems = [
      idempotencyKeyProblem(idempotencyKey),
      bookmarkProblem(bookmark),
      ...preconditionProblems(c),
    ].filter((problem) => problem !== undefined);
    if (problems.length > 0) throw invalidRequest(problems);
    c.set('idempotencyKey', idempotencyKey);
    const start = scope === 'read' ? startOfRead(bookmark) : 'first-primary';
    c.set('readsReplica', start !== 'first-primary');
    c.set('session', c.env.DB.withSession(start));
    await next();
  };
}

/**
 * D1 runs each write on the primary. Without a bookmark, a read starts there, too: at Cloudflare's
 * `first-unconstrained`, it could miss a write that its client has got a response for. So does a
 * read with a bookmark of another format: the primary is at least as new as any state.
 */
function startOfRead(bookmark: string): string {
  const isKnown = SESSION_STARTS.includes(bookmark) || D1_BOOKMARK.test(bookmark);
  return isKnown ? bookmark : 'first-primary';
}

/** The draft of `Idempotency-Key` defines a quoted string, but most clients send no quotes. */
function withoutQuotes(header: string | undefined): string | undefined {
  return header?.replace(/^"(.*)"$/, '$1');
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
  // Not in the pattern, which the OpenAPI description shows: few tools support a look-ahead.
  const isMisspelledStart = bookmark.toLowerCase().startsWith('first');
  return ACCEPTED_BOOKMARK.test(bookmark) && !isMisspelledStart
    ? undefined
    : 'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';
}

/**
 * Responses have no ETag. `If-Unmodified-Since` is ignored, as RFC 9110, section 13.1.4, demands.
 */
function preconditionProblems(c: Context): string[] {
  if (c.req.method !== 'PATCH' && c.req.method !== 'DELETE') return [];
  return PRECONDITIONS.filter((name) => c.req.header(name) !== undefined).map(
    (name) => `${name}: is not supported, because responses have no ETag`,
  );
}
