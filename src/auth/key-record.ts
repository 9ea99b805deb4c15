/**
 * The record of an API key in KV: JSON under the name `key:<SHA-256>`. The key itself is not stored.
 */
import * as z from 'zod/mini';
import type { Scope } from '../definition.ts';
import { sha256Hex } from '../sha256.ts';

/** ISO 8601 in UTC. `z.iso.datetime()` would add 0.7 KiB to the worker, after gzip. */
const Time = z.string().check(
  z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/),
  z.refine((time) => !Number.isNaN(Date.parse(time))),
);
const Id = z.string().check(z.minLength(1));

/** The worker ignores unknown members. The log and the operators' commands name a key by its `id`. */
export const KeyRecord = z.object({
  id: Id,
  label: z.string(),
  createdAt: Time,
  /** The key is invalid from this time on. */
  expiresAt: z.nullish(Time),
  /** The key is revoked, unless this is absent or `null`. */
  revokedAt: z.nullish(Time),
  /**
   * If this and `scope` are absent, a key may read and write. Unknown scopes in a list are ignored. A value that is no list was
   * meant as a restriction: it grants `read` alone.
   */
  scopes: z.optional(z.unknown()),
  /** A misspelling of `scopes`, which an operator meant as a restriction: it grants `read` alone. */
  scope: z.optional(z.unknown()),
  /** Id of the client's first key, if this key has replaced another one (`npm run keys -- rotate`). */
  family: z.nullish(Id),
});

export type KeyRecord = z.infer<typeof KeyRecord>;

/**
 * Parses a record from KV.
 *
 * @throws Error when it is not a valid record. The message is logged, so it does not quote the record.
 */
export function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds an invalid key record.');
  }
}

type KeyState = 'active' | 'expired' | 'revoked';

/** A revoked key is reported as revoked, even if it has also expired. */
export function stateOf({ expiresAt, revokedAt }: KeyRecord): KeyState {
  if (revokedAt) return 'revoked';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

/** The scopes of a key, by the rules at `KeyRecord`. */
export function scopesOf({ scopes, scope }: KeyRecord): Scope[] {
  if (scopes === undefined && scope === undefined) return ['read', 'write'];
  if (!Array.isArray(scopes) || scope !== undefined) return ['read'];
  return (['read', 'write'] as const).filter((each) => scopes.includes(each));
}

export const KV_NAME_PREFIX = 'key:';

/** The KV name of a key's record: `key:` and the SHA-256 of the whole key in lower-case hex. */
export async function recordName(key: string): Promise<string> {
  return KV_NAME_PREFIX + (await sha256Hex(key));
}
