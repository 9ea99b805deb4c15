/**
 * Finds the record of an API key in KV, and keeps it in the isolate's memory for a while: a KV read takes a round trip, and costs
 * nearly as much as the rest of a `GET`. Times are in milliseconds since 1970.
 */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { serviceUnavailable } from '../errors.ts';
import { type KeyRecord, parseRecord, recordName } from './key-record.ts';

/**
 * How long a record is used without reading KV again. After a revocation, KV can return the old record for "60 seconds or
 * more". An isolate uses the old record for at most this long after KV last returned it, or longer while KV fails.
 * https://developers.cloudflare.com/kv/concepts/how-kv-works/
 */
export const FRESH_MS = 30_000;
/** How long the last known record of a key is used while KV fails. */
export const MAX_STALE_MS = 3_600_000;

/** Deadline of a KV read, in milliseconds. */
export const KV_DEADLINE_MS = 2_000;
/** `cacheTtl` of a KV read, in seconds: the minimum that KV allows. KV caches also that a key has no record, as of one not yet created. */
const KV_CACHE_S = 30;

/** Bounds the memory: a record takes about a kilobyte. */
const MAX_RECORDS = 1_000;

type KnownRecord = {
  record: KeyRecord;
  /** When the KV read that returned the record began. */
  readAt: number;
  /** When the last KV read failed, if one has failed since. */
  failedAt?: number;
};

/**
 * Records by API key. Keeping keys in memory adds no risk: the isolate receives them in requests. Each read of KV puts its record
 * at the end, so the first record is the one to evict.
 */
const knownRecords = new Map<string, KnownRecord>();

/**
 * The record of an API key; `null` if there is none. Keys without a record are not remembered, so that guessed keys cannot
 * evict the keys of clients.
 *
 * @throws ApiError 503 when KV fails and the record was not read within the last hour; Error when it is invalid.
 */
export async function findRecord(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const known = lastKnownRecord(key);
  if (known && Date.now() < readAgainAt(known)) return useRecord(c, known);

  const readAt = Date.now();
  let stored: string | null;
  try {
    stored = await readKv(c, key);
  } catch (error) {
    // Not `known`: another request may have read the record since.
    const lastKnown = lastKnownRecord(key);
    if (!lastKnown) throw serviceUnavailable('API keys cannot be verified right now.', error);
    postponeRead(lastKnown);
    return useRecord(c, lastKnown);
  }
  // A read that began later may have returned first. KV does not promise that the later read has the newer record: after
  // a change, a location can return the old record again, which is then used for up to 30 s more.
  const newer = knownRecords.get(key);
  if (newer && newer.readAt > readAt) return useRecord(c, newer);
  // Forgets the old record first, because the new one may be missing or invalid.
  knownRecords.delete(key);
  if (stored === null) return null;
  const record = parseRecord(stored);
  remember(key, { record, readAt });
  return record;
}

/** The known record of a key, if it was read within the last hour. */
function lastKnownRecord(key: string): KnownRecord | undefined {
  const known = knownRecords.get(key);
  return known && Date.now() < known.readAt + MAX_STALE_MS ? known : undefined;
}

function readAgainAt({ readAt, failedAt }: KnownRecord): number {
  return (failedAt ?? readAt) + FRESH_MS;
}

/** Returns a known record, and logs if KV has failed since it was read. */
function useRecord(c: Context<AppEnv>, { record, failedAt }: KnownRecord): KeyRecord {
  if (failedAt !== undefined) c.get('log').keyStale = true;
  return record;
}

async function readKv(c: Context<AppEnv>, key: string): Promise<string | null> {
  const startedAt = Date.now();
  try {
    const reading = c.env.API_KEYS.get(await recordName(key), { cacheTtl: KV_CACHE_S });
    return await withDeadline(reading, KV_DEADLINE_MS, 'KV');
  } finally {
    c.get('log').kvMs = Date.now() - startedAt;
  }
}

/**
 * Postpones the next read after one has failed. While KV fails, each known record is read only every 30 s, so that few requests
 * wait:
 *
 *     0:00  A reads the record
 *     0:40  B waits for KV, which fails at 0:42. B uses the record, and postpones the next read to 1:12
 *     0:41  C waits for KV, which fails at 0:43. C uses the record, and finds that B has postponed the next read
 *     0:50  D uses the record at once
 *     1:12  E waits for KV …
 */
function postponeRead(known: KnownRecord): void {
  const now = Date.now();
  // Unless another request has postponed the next read, or has read the record.
  if (now >= readAgainAt(known)) known.failedAt = now;
}

function remember(key: string, known: KnownRecord): void {
  const [oldest] = knownRecords.keys();
  if (oldest !== undefined && knownRecords.size >= MAX_RECORDS) knownRecords.delete(oldest);
  knownRecords.set(key, known);
}
