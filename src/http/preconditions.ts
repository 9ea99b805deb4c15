import type { Context } from 'hono';

/** The preconditions of RFC 9110, section 13.1, that apply to a change. */
const PRECONDITIONS = ['If-Match', 'If-None-Match', 'If-Unmodified-Since'];

/**
 * The problems of a PATCH or DELETE with a precondition. The service has no validators, so it cannot evaluate one, and
 * RFC 9110, section 13.1.1, forbids the change in that case.
 */
export function preconditionProblems(c: Context): string[] {
  if (c.req.method !== 'PATCH' && c.req.method !== 'DELETE') return [];
  return PRECONDITIONS.filter((name) => c.req.header(name) !== undefined).map(
    (name) => `${name}: is not supported, because responses have no ETag and no Last-Modified`,
  );
}
