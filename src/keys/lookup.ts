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
  /** When to read KV again. Only the outcome of a KV read moves it. */
  refreshAt: number;
  /** When the record is no longer used, even while KV fails. */
  forgetAt: number;
  /** The last KV read failed. */
  stale: boolean;
};

const cache = new Map<string, CachedRecord>();
/** The KV reads in progress: concurrent requests with one key share one. */
const reads = new Map<string, Promise<string | null>>();

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
  let stored: string | null;
  try {
    stored = await readKv(c.env.API_KEYS, name);
  } catch (cause) {
    if (!cached || Date.now() >= cached.forgetAt) {
      throw serviceUnavailable('API keys cannot be checked right now.', cause);
    }
    // Wait before the next read, so that an outage does not delay every request.
    cached.refreshAt = Date.now() + FRESH_MS;
    cached.stale = true;
    c.get('log').keyStale = true;
    return cached.record;
  } finally {
    c.get('log').kvMs = Date.now() - start;
  }
  return remember(name, stored);
}

async function readKv(kv: KVNamespace, name: string): Promise<string | null> {
  const reading = reads.get(name) ?? kv.get(name, { cacheTtl: KV_CACHE_S });
  reads.set(name, reading);
  try {
    return await withDeadline(reading, KV_DEADLINE_MS, 'KV');
  } finally {
    if (reads.get(name) === reading) reads.delete(name);
  }
}

/** A key without a record is not cached: guesses must not push out the keys of clients. */
function remember(name: string, stored: string | null): KeyRecord | null {
  cache.delete(name);
  if (stored === null) return null;
  const record = parseRecord(stored);
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= MAX_RECORDS) cache.delete(oldest);
  const refreshAt = Date.now() + FRESH_MS;
  cache.set(name, { record, refreshAt, forgetAt: refreshAt + STALE_MS, stale: false });
  return record;
}

/** The message is logged, so it shows nothing of what is stored. */
function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds an invalid key record.');
  }
}
