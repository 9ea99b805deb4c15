/** The request headers of operations that need an API key. `Authorization` and those of the body are read elsewhere. */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition, Scope } from '../definition.ts';
import { invalidRequest } from './problems.ts';

/**
 * Where a D1 session can start, other than at a bookmark: at any state of the database, also that of a replica, or at the newest.
 * https://developers.cloudflare.com/d1/worker-api/d1-database/#withsession
 */
export const SESSION_STARTS = ['first-unconstrained', 'first-primary'];

/** D1's bookmarks today. Cloudflare documents them as opaque. */
const D1_BOOKMARK = /^([0-9a-f]{8}-){3}[0-9a-f]{32}$/;
/** The accepted format: wider than that of D1's bookmarks today, because D1 may change it. */
export const ACCEPTED_BOOKMARK = /^[A-Za-z0-9_.~+/=:-]{1,256}$/;

/** Maximum length of an idempotency key, in characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** The preconditions of RFC 9110, section 13.1, that compare an ETag. */
const PRECONDITIONS = ['If-Match', 'If-None-Match'];

/**
 * Reads the headers, and sets the idempotency key of the request and its session.
 *
 * @throws ApiError 400 that names every invalid header.
 */
export function readHeaders(
  c: Context<AppEnv>,
  { scope, acceptsIdempotencyKey }: AuthenticatedDefinition,
): void {
  const bookmarkHeader = c.req.header('X-D1-Bookmark');
  const idempotencyKey = acceptsIdempotencyKey
    ? withoutQuotes(c.req.header('Idempotency-Key'))
    : undefined;
  const problems = [
    idempotencyKeyProblem(idempotencyKey),
    bookmarkProblem(bookmarkHeader),
    ...preconditionProblems(c),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw invalidRequest(problems);
  c.set('idempotencyKey', idempotencyKey);
  if (bookmarkHeader !== undefined) c.set('session', startSession(c, bookmarkHeader, scope));
}

/** The draft of `Idempotency-Key` defines a quoted string, but most clients send no quotes: both forms are the same key. */
function withoutQuotes(header: string | undefined): string | undefined {
  const quoted = /^"(.*)"$/.exec(header ?? '');
  return quoted ? quoted[1] : header;
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

function bookmarkProblem(header: string | undefined): string | undefined {
  if (header === undefined || SESSION_STARTS.includes(header)) return undefined;
  // Not part of the pattern, which the OpenAPI description shows: few tools support a look-ahead.
  const isMisspelledStart = header.toLowerCase().startsWith('first');
  return ACCEPTED_BOOKMARK.test(header) && !isMisspelledStart
    ? undefined
    : 'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';
}

/**
 * Starts the session of a request. A write starts at the primary, because D1 runs it there. A read with a bookmark of an unknown
 * format starts there, too: D1 might fail on the bookmark, and the primary is at least as new as any state that it can name.
 */
function startSession(c: Context<AppEnv>, header: string, scope: Scope): D1DatabaseSession {
  const isKnown = SESSION_STARTS.includes(header) || D1_BOOKMARK.test(header);
  if (!isKnown) c.get('log').unknownBookmark = true;
  return c.env.DB.withSession(scope === 'read' && isKnown ? header : 'first-primary');
}

/**
 * The problems of a PATCH or DELETE with a precondition. A client that sends one expects protection against changes of other
 * clients, but responses have no ETag to compare with. `If-Unmodified-Since` is ignored, as RFC 9110, section 13.1.4, demands
 * of resources without a modification date.
 */
function preconditionProblems(c: Context): string[] {
  if (c.req.method !== 'PATCH' && c.req.method !== 'DELETE') return [];
  return PRECONDITIONS.filter((name) => c.req.header(name) !== undefined).map(
    (name) => `${name}: is not supported, because responses have no ETag`,
  );
}
