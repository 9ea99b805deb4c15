/** The record of an API key in KV: JSON under the name `key:<SHA-256>`. The key is not stored. */
import * as z from 'zod/mini';
import type { Scope } from '../operation/definition.ts';
import { sha256Hex } from '../sha256.ts';

/** ISO 8601 in UTC. `z.iso.datetime()` would add 0.7 KiB to the worker. */
const Time = z.string().check(
  z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/),
  z.refine((time) => !Number.isNaN(Date.parse(time))),
);
const Id = z.string().check(z.minLength(1));

export const KeyRecord = z.object({
  id: Id,
  label: z.string(),
  createdAt: Time,
  expiresAt: z.nullish(Time),
  /** The key is revoked, unless this is absent or `null`. */
  revokedAt: z.nullish(Time),
  /** Absent: read and write. A value that is no list: `read` alone. */
  scopes: z.optional(z.unknown()),
  /** A misspelling of `scopes`: `read` alone. */
  scope: z.optional(z.unknown()),
  /** Id of the client's first key, if this key has replaced another one. */
  family: z.nullish(Id),
});

export type KeyRecord = z.infer<typeof KeyRecord>;

/** @throws Error, which is logged, so it does not quote the record. */
export function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds an invalid key record.');
  }
}

type KeyState = 'active' | 'expired' | 'revoked';

export function stateOf({ expiresAt, revokedAt }: KeyRecord): KeyState {
  if (revokedAt) return 'revoked';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

export function scopesOf({ scopes, scope }: KeyRecord): Scope[] {
  if (scopes === undefined && scope === undefined) return ['read', 'write'];
  if (!Array.isArray(scopes) || scope !== undefined) return ['read'];
  return (['read', 'write'] as const).filter((each) => scopes.includes(each));
}

export const KV_NAME_PREFIX = 'key:';

export async function recordName(key: string): Promise<string> {
  return KV_NAME_PREFIX + (await sha256Hex(key));
}
