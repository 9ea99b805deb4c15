/**
 * The `Idempotency-Key` request header, with which a client can retry a create safely.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import { sha256 } from '../../sha256.ts';

/** How long a record is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

export const MAX_LENGTH = 255;

/**
 * The idempotency key of a request, or `undefined` without the header. The draft defines a quoted string, but most
 * clients send no quotes: both forms are the same key.
 */
export function idempotencyKeyOf(c: Context): string | undefined {
  const header = c.req.header('Idempotency-Key');
  const quoted = /^"(.*)"$/.exec(header ?? '');
  return quoted ? quoted[1] : header;
}

/** The problem of the request's idempotency key, if it is invalid. */
export function idempotencyKeyProblems(c: Context): string[] {
  const key = idempotencyKeyOf(c);
  if (key === undefined) return [];
  if (key.length > MAX_LENGTH || !/^[ -~]+$/.test(key)) {
    return [`Idempotency-Key: must be 1 to ${MAX_LENGTH} printable ASCII characters`];
  }
  // The runtime joins repeated headers with a comma and a space.
  if (!key.includes(', ')) return [];
  return [
    'Idempotency-Key: must be given only once, and must not contain a comma followed by a space',
  ];
}

/** SHA-256, in hex, of a validated body. It does not depend on the order of fields or on white space. */
export function hashBody(body: Record<string, unknown>): Promise<string> {
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(members.sort(), (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return sha256(text);
}
