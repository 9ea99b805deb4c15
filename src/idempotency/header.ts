/**
 * The `Idempotency-Key` request header: a client's name for a create, so that repeating the request does
 * not repeat its effect.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import { sha256 } from '../sha256.ts';
import type { WriteRecord } from './queries.ts';

/** How long a key is remembered, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

export const MAX_LENGTH = 255;

/**
 * The key of a request, or `undefined` when it has none. The draft defines a quoted string, clients send
 * it without quotes: both are the same key.
 */
export function idempotencyKeyOf(c: Context<AppEnv>): string | undefined {
  const header = c.req.header('Idempotency-Key');
  const quoted = /^"(.*)"$/.exec(header ?? '');
  return quoted ? quoted[1] : header;
}

/** The problem of the key of a request, if it has an invalid one. */
export function validateIdempotencyKey(c: Context<AppEnv>): string[] {
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

/**
 * What an idempotency key is unique in: the client and the operation. Records of `createPet` are those of
 * version 1.0.0, which knew no other operation.
 */
export function scopeOf(c: Context<AppEnv>, operationId: string): string {
  // What stays the same when the key is rotated.
  const { id, family: client = id } = c.get('key');
  return operationId === 'createPet' ? client : `${client}/${operationId}`;
}

/** What a write without an idempotency key is recorded by: its own request. */
export function writeRecord(c: Context<AppEnv>, operationId: string): WriteRecord {
  return { scope: scopeOf(c, operationId), requestId: c.get('requestId') };
}

/** SHA-256, in hex, of what a validated body says, however it was written. */
export function hashOf(body: Record<string, unknown>): Promise<string> {
  const members = Object.entries(body).filter(([, value]) => value !== undefined);
  const text = JSON.stringify(members.sort(), (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return sha256(text);
}
