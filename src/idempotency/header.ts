/**
 * The `Idempotency-Key` request header: a client's name for a create, so that repeating the request does
 * not repeat its effect.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { sha256 } from '../sha256.ts';
import type { WriteRecord } from './queries.ts';

/** How long a key is remembered, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

export const MAX_LENGTH = 255;

/**
 * The key of a request, or `undefined` when it has none. The draft defines a quoted string, clients send
 * it without quotes: both are the same key.
 *
 * @throws ApiError 400 when it is not 1 to 255 printable ASCII characters, or the header is repeated.
 */
export function idempotencyKeyOf(c: Context<AppEnv>): string | undefined {
  const header = c.req.header('Idempotency-Key');
  if (header === undefined) return undefined;
  const isQuoted = header.length > 1 && header.startsWith('"') && header.endsWith('"');
  const key = isQuoted ? header.slice(1, -1) : header;
  if (key.length > MAX_LENGTH || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalidKey(`must be 1 to ${MAX_LENGTH} printable ASCII characters`);
  }
  // The runtime joins repeated headers with a comma and a space.
  if (key.includes(', ')) {
    throw invalidKey('must be given only once, and must not contain a comma followed by a space');
  }
  return key;
}

/**
 * What an idempotency key is unique in: the client and the operation. Records of `createPet` are those of
 * version 1.0.0, which knew no other operation.
 */
export function scopeOf(c: Context<AppEnv>, operationId: string): string {
  const client = c.get('keyFamily');
  return operationId === 'createPet' ? client : `${client}/${operationId}`;
}

/** What a write without an idempotency key is recorded by: its own request. */
export function writeRecord(c: Context<AppEnv>, operationId: string): WriteRecord {
  return { scope: scopeOf(c, operationId), requestId: c.get('requestId') };
}

function invalidKey(problem: string): ApiError {
  return new ApiError('invalid_request', `Idempotency-Key: ${problem}`);
}

/** SHA-256, in hex, of what a validated body says, however it was written. */
export function hashOf(body: Record<string, unknown>): string {
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(members.sort(), (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return sha256(text);
}
