/**
 * Finds the record of an API key in the isolate's cache, else in KV. A KV read costs a round trip, and KV reads are most
 * of the bill of a small API. Requests of a client come in bursts, so the cache saves most reads, and most of the
 * others run in the background.
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { createKeyCache } from './cache.ts';
import { InvalidRecordError, type KeyRecord, recordName } from './record.ts';

/** Bounds the memory of the cache: a record takes about a kilobyte. */
const MAX_RECORDS = 1_000;

/** Deadline of a KV read, in milliseconds. */
const KV_DEADLINE_MS = 2_000;
/** `cacheTtl` of a KV read, in seconds: the minimum that KV allows. */
export const KV_CACHE_S = 30;

/** A read and its result, which is cached. */
type KvRead = { startedAt: number; result: Promise<KeyRecord | null> };

const cache = createKeyCache(MAX_RECORDS);
/** KV reads in progress. Concurrent requests with the same key share a read. */
const reads = new Map<string, KvRead>();

/**
 * The record of a key in the cache, if it may be used without waiting for KV. A record that is no longer fresh is
 * read again in the background.
 */
export function cachedKey(c: Context<AppEnv>, key: string): KeyRecord | undefined {
  const now = Date.now();
  const entry = cache.get(key, now);
  if (!entry) return undefined;
  if (entry.stale) c.get('log').keyStale = true;
  if (now >= entry.refreshAt && !reads.has(key)) {
    // A failure is recorded in the cache, and logged with the next request of the key.
    c.executionCtx.waitUntil(readKey(c, key).catch(() => {}));
  }
  return entry.record;
}

/**
 * Reads the record of a key from KV; `null` if there is none. While KV fails, a cached key keeps its last known state
 * for up to an hour.
 *
 * @throws ApiError 503 when KV fails and the key is not in the cache; InvalidRecordError when KV holds an invalid record.
 */
export async function findKey(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const log = c.get('log');
  const start = Date.now();
  try {
    const { record, stale } = await readKey(c, key);
    if (stale) log.keyStale = true;
    return record;
  } finally {
    log.kvMs = (log.kvMs ?? 0) + Date.now() - start;
  }
}

type Found = { record: KeyRecord | null; stale?: boolean };

async function readKey(c: Context<AppEnv>, key: string): Promise<Found> {
  const read = reads.get(key) ?? startRead(c, key);
  try {
    return { record: await withDeadline(read.result, KV_DEADLINE_MS, 'KV') };
  } catch (error) {
    if (error instanceof InvalidRecordError) throw error;
    const entry = cache.keepStale(key, read.startedAt, Date.now());
    if (!entry) throw serviceUnavailable('API keys cannot be verified right now.', error);
    return { record: entry.record, stale: true };
  } finally {
    if (reads.get(key) === read) reads.delete(key);
  }
}

function startRead(c: Context<AppEnv>, key: string): KvRead {
  const startedAt = Date.now();
  const result = readKv(c.env, key).then((stored) => cache.set(key, startedAt, stored));
  const read = { startedAt, result };
  reads.set(key, read);
  // A read that returns after the deadline of this request is still cached.
  c.executionCtx.waitUntil(result.catch(() => {}));
  return read;
}

async function readKv(env: Env, key: string): Promise<string | null> {
  return env.API_KEYS.get(await recordName(key), { cacheTtl: KV_CACHE_S });
}
