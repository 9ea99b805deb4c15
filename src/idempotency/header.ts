/**
 * The `Idempotency-Key` request header: a name that a client gives to a create, so that it can send it
 * again without doing it twice.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { sha256 } from '../sha256.ts';

/** How long a key is remembered, in milliseconds. */
export const KEPT_MS = 86_400_000;

/**
 * The key of a request, or `undefined` when it has none. The draft wants it quoted, clients send it bare:
 * both are the same.
 *
 * @throws ApiError 400 when it is not 1 to 255 printable ASCII characters.
 */
export function idempotencyKeyOf(c: Context<AppEnv>): string | undefined {
  const header = c.req.header('Idempotency-Key');
  if (header === undefined) return undefined;
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError(
    'invalid_request',
    'Idempotency-Key: must be 1 to 255 printable ASCII characters',
  );
}

/** SHA-256, in hex, of what a validated body says, however it was written. */
export function hashOf(body: Record<string, unknown>): string {
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(members.sort(), (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return sha256(text);
}
