/** The request headers of operations. `Authorization` and those of the body are read elsewhere. */
import type { Context } from 'hono';
import type { AppEnv, OperationDefinition, Scope } from '../context.ts';
import { invalidRequest } from './validate.ts';

/**
 * A D1 session starts at a bookmark (the name of one state of the database), or at one of these. `first-unconstrained`: at any
 * state, also that of a replica. `first-primary`: at the newest state.
 * https://developers.cloudflare.com/d1/best-practices/read-replication/
 */
export const SESSION_STARTS = ['first-unconstrained', 'first-primary'];

/** D1's bookmarks today. Cloudflare documents them as opaque. */
const D1_BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;
/**
 * The accepted format: wider than that of D1's bookmarks today, because D1 may change it. Text that begins with `first`, in
 * upper or lower case, is a misspelled start of a session. Without the flag `i`, because the OpenAPI description shows this
 * pattern, and a pattern there has no flags.
 */
export const ACCEPTED_BOOKMARK = /^(?![Ff][Ii][Rr][Ss][Tt])[A-Za-z0-9_.~+/=:-]{1,256}$/;

/** Maximum length of an idempotency key, in characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** The preconditions of RFC 9110, section 13.1, that apply to a change. */
const PRECONDITIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * Validates the headers, and sets the start of the request's session and its idempotency key.
 *
 * @throws ApiError 400 that names every invalid header.
 */
export function validateHeaders(
  c: Context<AppEnv>,
  { scope, acceptsIdempotencyKey }: OperationDefinition,
): void {
  const bookmark = c.req.header('X-D1-Bookmark');
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
  c.set('sessionStart', sessionStart(bookmark, scope));
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

function bookmarkProblem(bookmark: string | undefined): string | undefined {
  if (bookmark === undefined || SESSION_STARTS.includes(bookmark)) return undefined;
  return ACCEPTED_BOOKMARK.test(bookmark)
    ? undefined
    : 'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';
}

/**
 * Where the session of a request starts; `undefined` without a bookmark, for no session. That of a write starts at
 * `first-primary`, because D1 runs writes there in any case. So does that of a read with a bookmark of an unknown format: D1
 * would fail on the bookmark, and the primary is at least as new.
 */
function sessionStart(bookmark: string | undefined, scope: Scope): string | undefined {
  if (bookmark === undefined) return undefined;
  const isKnown = SESSION_STARTS.includes(bookmark) || D1_BOOKMARK.test(bookmark);
  return scope === 'read' && isKnown ? bookmark : 'first-primary';
}

/**
 * The problems of a PATCH or DELETE with a precondition. A client that sends one expects protection, but responses have no
 * ETag and no Last-Modified to compare with. RFC 9110, section 13.1.1, forbids the change if `If-Match` is not fulfilled.
 */
function preconditionProblems(c: Context): string[] {
  if (c.req.method !== 'PATCH' && c.req.method !== 'DELETE') return [];
  return PRECONDITIONS.filter((name) => c.req.header(name) !== undefined).map(
    (name) => `${name}: is not supported, because responses have no ETag and no Last-Modified`,
  );
}
