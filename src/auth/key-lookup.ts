/** Finds the record of an API key in KV, and keeps it in memory. Times are in milliseconds. */
import type { Context } from 'hono';
import { type AppEnv, logOf } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { serviceUnavailable } from '../errors.ts';
import { type KeyRecord, parseRecord, recordName } from './key-record.ts';

/**
 * How long a record is used without reading KV again. KV itself can return the old record for "60
 * seconds or more": https://developers.cloudflare.com/kv/concepts/how-kv-works/
 */
export const FRESH_MS = 30_000;
/** How long a record is used while KV fails. */
const MAX_STALE_MS = 3_600_000;

export const KV_DEADLINE_MS = 2_000;
/** `cacheTtl`, in seconds: KV's minimum. */
const KV_CACHE_S = 30;

/** A record takes about a kilobyte. */
const MAX_RECORDS = 5_000;

type KnownRecord = {
  record: KeyRecord;
  /** When the KV read began. */
  readAt: number;
  /** When the last KV read since then failed. */
  failedAt?: number;
};

/** By API key, in the order of their last use. */
const knownRecords = new Map<string, KnownRecord>();

/**
 * Returns `null` for an unknown key, which is not remembered: guessed keys cannot evict others.
 *
 * @throws ApiError 503 when KV fails and no record is known; Error when the record is invalid.
 */
export async function findRecord(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const known = lastKnownRecord(key);
  if (known && Date.now() < readAgainAt(known)) return useRecord(c, key, known);

  const readAt = Date.now();
  let stored: string | null;
  try {
    stored = await readKv(c, key);
  } catch (error) {
    // Another request may have read it since.
    const lastKnown = lastKnownRecord(key);
    if (!lastKnown) throw serviceUnavailable('API keys cannot be verified right now.', error);
    postponeRead(lastKnown);
    return useRecord(c, key, lastKnown);
  }
  // A later read may have returned first.
  const newer = knownRecords.get(key);
  if (newer && newer.readAt > readAt) return useRecord(c, key, newer);
  // Before `parseRecord`, which may throw.
  knownRecords.delete(key);
  return stored === null ? null : useRecord(c, key, { record: parseRecord(stored), readAt });
}

function lastKnownRecord(key: string): KnownRecord | undefined {
  const known = knownRecords.get(key);
  return known && Date.now() < known.readAt + MAX_STALE_MS ? known : undefined;
}

function readAgainAt({ readAt, failedAt }: KnownRecord): number {
  return (failedAt ?? readAt) + FRESH_MS;
}

/** Remembers a record as the one that was used last. */
function useRecord(c: Context<AppEnv>, key: string, known: KnownRecord): KeyRecord {
  knownRecords.delete(key);
  const [leastUsed] = knownRecords.keys();
  if (leastUsed !== undefined && knownRecords.size >= MAX_RECORDS) knownRecords.delete(leastUsed);
  knownRecords.set(key, known);
  if (known.failedAt !== undefined) logOf(c).keyStale = true;
  return known.record;
}

async function readKv(c: Context<AppEnv>, key: string): Promise<string | null> {
  const startedAt = Date.now();
  try {
    const reading = c.env.API_KEYS.get(await recordName(key), { cacheTtl: KV_CACHE_S });
    return await withDeadline(reading, KV_DEADLINE_MS, 'KV');
  } finally {
    logOf(c).kvMs = Date.now() - startedAt;
  }
}

/** The next read is 30 s later, so that few requests wait while KV fails. */
function postponeRead(known: KnownRecord): void {
  const now = Date.now();
  if (now >= readAgainAt(known)) known.failedAt = now;
}
