/**
 * Finds the record of an API key: in this isolate's memory, else in KV. KV reads dominate the bill of a
 * small API and cost a round trip, and a client's requests come in bursts: the memory saves most reads.
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { KeyRecord, recordName } from './record.ts';

/** How long a record is used without reading KV again, in milliseconds. */
const FRESH_MS = 10_000;
/** How long after that a record is still used while KV fails, in milliseconds. */
const STALE_MS = 3_600_000;
/** Bounds the memory: a record takes about a kilobyte. */
const MAX_RECORDS = 1_000;

/** Deadline of a KV read, in milliseconds. */
const KV_DEADLINE_MS = 2_000;
/** `cacheTtl` of a KV read, in seconds: the minimum that KV allows. */
const KV_CACHE_S = 30;

type CachedRecord = {
  record: KeyRecord;
  /** When the KV read began that returned it. */
  readAt: number;
  /** When to read KV again. Only the outcome of a KV read moves it. */
  refreshAt: number;
  /** The last KV read failed. */
  stale: boolean;
};

type KvRead = { startedAt: number; result: Promise<string | null> };

const cache = new Map<string, CachedRecord>();
/** The KV reads in progress: concurrent requests with one key share one. */
const reads = new Map<string, KvRead>();

/**
 * The record of a key, or `null` when there is none. While KV fails, a key that this isolate has seen
 * keeps its last known state for up to an hour.
 *
 * @throws ApiError 503 when KV fails and the key is not in memory; Error when KV holds an invalid record.
 */
export async function findKey(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const name = recordName(key);
  const cached = cache.get(name);
  if (cached && Date.now() < cached.refreshAt) {
    if (cached.stale) c.get('log').keyStale = true;
    return cached.record;
  }
  const start = Date.now();
  const read = reads.get(name) ?? startRead(c, name);
  let stored: string | null;
  try {
    stored = await withDeadline(read.result, KV_DEADLINE_MS, 'KV');
  } catch (cause) {
    const record = keepStale(name, read);
    if (!record) throw serviceUnavailable('API keys cannot be checked right now.', cause);
    c.get('log').keyStale = true;
    return record;
  } finally {
    if (reads.get(name) === read) reads.delete(name);
    c.get('log').kvMs = Date.now() - start;
  }
  return remember(name, read, stored);
}

function startRead(c: Context<AppEnv>, name: string): KvRead {
  const result = c.env.API_KEYS.get(name, { cacheTtl: KV_CACHE_S });
  const read = { startedAt: Date.now(), result };
  reads.set(name, read);
  // The read may return after this request's deadline: then it still counts, also for those who share it.
  const remembering = result.then((stored) => remember(name, read, stored));
  c.executionCtx.waitUntil(remembering.catch(() => {}));
  return read;
}

/**
 * Caches what a read returned, unless a later read has already returned: an old record must not come back.
 * A key without a record is not cached: guesses must not push out the keys of clients.
 */
function remember(name: string, { startedAt }: KvRead, stored: string | null): KeyRecord | null {
  const cached = cache.get(name);
  if (cached && cached.readAt > startedAt) return cached.record;
  cache.delete(name);
  if (stored === null) return null;
  const record = parseRecord(stored);
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= MAX_RECORDS) cache.delete(oldest);
  cache.set(name, { record, readAt: startedAt, refreshAt: startedAt + FRESH_MS, stale: false });
  return record;
}

/** The cached record, for use after a failed read, if it is not too old for that. */
function keepStale(name: string, { startedAt }: KvRead): KeyRecord | undefined {
  const cached = cache.get(name);
  if (!cached || Date.now() >= cached.readAt + FRESH_MS + STALE_MS) return undefined;
  if (cached.readAt <= startedAt) {
    // Wait before the next read, so that an outage does not delay every request.
    cached.refreshAt = Date.now() + FRESH_MS;
    cached.stale = true;
  }
  return cached.record;
}

/** The message is logged, so it shows nothing of what is stored. */
function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds an invalid key record.');
  }
}
