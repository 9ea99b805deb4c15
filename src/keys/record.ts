/**
 * What KV holds of an API key: under the name `key:<SHA-256>` a record in JSON. The key itself is
 * stored nowhere.
 */
import * as z from 'zod/mini';
import { lazy } from '../lazy.ts';
import { sha256 } from '../sha256.ts';

/** ISO 8601, in UTC. Not `z.iso.datetime()`, which would add a kilobyte to the worker. */
const Time = lazy(() =>
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/),
    z.refine((time) => !Number.isNaN(Date.parse(time))),
  ),
);
/** Without `/`, which separates it from the operation: see `scopeOf` in ../idempotency/header.ts. */
const Id = lazy(() => z.string().check(z.regex(/^[^/]+$/)));

/** What a key may do. */
export type Scope = 'read' | 'write';

const ALL_SCOPES = ['read', 'write'];

/** Readers ignore members that they do not know. `id` is the key's name in logs and commands. */
export const KeyRecord = lazy(() =>
  z.object({
    id: Id(),
    label: z.string(),
    createdAt: Time(),
    /** The first moment at which the key no longer works. */
    expiresAt: z.nullish(Time()),
    /** Present once the key was revoked. */
    revokedAt: z.nullish(Time()),
    /** Absent: `read` and `write`. Readers ignore scopes that they do not know. */
    scopes: z.nullish(z.array(z.string())),
    /** Id of the first key of the rotations that led to this one; absent for a key that was created. */
    family: z.optional(Id()),
  }),
);

export type KeyRecord = z.infer<ReturnType<typeof KeyRecord>>;

/**
 * The record that KV holds as this text.
 *
 * @throws Error when it is not a valid record. The message is logged, so it shows nothing of what is stored.
 */
export function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord().parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds an invalid key record.');
  }
}

export type KeyState = 'active' | 'expired' | 'revoked';

/** A key that was revoked stays so, whether it has expired since or not. */
export function stateOf({ expiresAt, revokedAt }: KeyRecord): KeyState {
  if (revokedAt) return 'revoked';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

export function scopesOf({ scopes }: KeyRecord): string[] {
  return scopes ?? ALL_SCOPES;
}

export const KEY_PREFIX = 'key:';

/** KV name of a key's record: `key:` and the SHA-256 of the whole key in lower-case hex. */
export async function recordName(key: string): Promise<string> {
  return KEY_PREFIX + (await sha256(key));
}
