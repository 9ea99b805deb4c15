/**
 * Finds the record of an API key in the isolate's cache, else in KV. A KV read costs a round trip, and KV reads are most
 * of the bill of a small API. Requests of a client come in bursts, so the cache saves most reads, and most
 * remaining reads run in the background.
 */
import type { Context } from 'hono';
import { withDeadline } from '../../deadline.ts';
import type { AppEnv } from '../../env.ts';
import { serviceUnavailable } from '../../errors.ts';
import { createKeyCache } from './cache.ts';
import { InvalidRecordError, type KeyRecord, parseRecord, recordName } from './record.ts';

/** Bounds the memory of the cache: a record takes about a kilobyte. */
const MAX_RECORDS = 1_000;

/** Deadline of a KV read, in milliseconds. */
const KV_DEADLINE_MS = 2_000;
/** `cacheTtl` of a KV read, in seconds: the minimum that KV allows. */
const KV_CACHE_S = 30;

const cache = createKeyCache(MAX_RECORDS);

/** A KV read, which puts its result into the cache. */
type KvRead = { startedAt: number; record: Promise<KeyRecord | null> };

/**
 * KV reads in progress, by key: concurrent requests with the same key share a read. The runtime lets a request await the
 * promise of another request (compatibility flag handle_cross_request_promise_resolution, on by default).
 */
const readsInProgress = new Map<string, KvRead>();

/**
 * The record of a key in the cache, if it may be used without waiting for KV. A record that is no longer fresh is
 * read again in the background.
 */
export function cachedRecord(c: Context<AppEnv>, key: string): KeyRecord | undefined {
  const now = Date.now();
  const entry = cache.get(key, now);
  if (!entry) return undefined;
  if (entry.lastReadFailed) c.get('log').keyStale = true;
  if (now >= entry.refreshAt && !readsInProgress.has(key)) {
    // If it fails, the cache marks the entry, and the next request with the key logs `keyStale`.
    c.executionCtx.waitUntil(readRecord(c, key).catch(() => {}));
  }
  return entry.record;
}

/**
 * Reads the record of a key from KV; `null` if there is none. While KV fails, a cached key keeps its last known state
 * for about an hour.
 *
 * @throws ApiError 503 when KV fails and the key is not in the cache; InvalidRecordError when KV holds an invalid record.
 */
export async function findRecord(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const log = c.get('log');
  const start = Date.now();
  try {
    const { record, isStale } = await readRecord(c, key);
    if (isStale) log.keyStale = true;
    return record;
  } finally {
    log.kvMs = (log.kvMs ?? 0) + Date.now() - start;
  }
}

async function readRecord(
  c: Context<AppEnv>,
  key: string,
): Promise<{ record: KeyRecord | null; isStale: boolean }> {
  const read = readsInProgress.get(key) ?? startRead(c, key);
  try {
    // A read that another request started never settles if that request has ended.
    return { record: await withDeadline(read.record, KV_DEADLINE_MS, 'KV'), isStale: false };
  } catch (error) {
    if (error instanceof InvalidRecordError) throw error;
    const entry = cache.markFailedRead(key, read.startedAt, Date.now());
    if (!entry) throw serviceUnavailable('API keys cannot be verified right now.', error);
    return { record: entry.record, isStale: entry.lastReadFailed };
  } finally {
    // A later request may have started another read.
    if (readsInProgress.get(key) === read) readsInProgress.delete(key);
  }
}

function startRead(c: Context<AppEnv>, key: string): KvRead {
  const startedAt = Date.now();
  const record = readAndCache(c.env, key, startedAt);
  const read = { startedAt, record };
  readsInProgress.set(key, read);
  // The promise settles only while this request lives, and others may await it. A late result is still cached.
  c.executionCtx.waitUntil(record.catch(() => {}));
  return read;
}

/** @throws InvalidRecordError when KV holds an invalid record, which also removes the key from the cache. */
async function readAndCache(env: Env, key: string, startedAt: number): Promise<KeyRecord | null> {
  const stored = await env.API_KEYS.get(await recordName(key), { cacheTtl: KV_CACHE_S });
  try {
    const record = stored === null ? null : parseRecord(stored);
    cache.put(key, startedAt, record);
    return record;
  } catch (error) {
    cache.put(key, startedAt, null);
    throw error;
  }
}
