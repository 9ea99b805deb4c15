/**
 * Finds the record of an API key: in this isolate's memory, else in KV. KV reads dominate the bill of a
 * small API and cost a round trip, and a client's requests come in bursts: the memory saves most reads, and
 * most of the rest run behind the response.
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { createKeyMemory } from './memory.ts';
import { type KeyRecord, recordName } from './record.ts';

/** Bounds the memory: a record takes about a kilobyte. */
const MAX_RECORDS = 1_000;

/** Deadline of a KV read, in milliseconds. */
const KV_DEADLINE_MS = 2_000;
/** `cacheTtl` of a KV read, in seconds: the minimum that KV allows. */
const KV_CACHE_S = 30;

type KvRead = { startedAt: number; result: Promise<string | null> };

const memory = createKeyMemory(MAX_RECORDS);
/** The KV reads in progress: concurrent requests with one key share one. */
const reads = new Map<string, KvRead>();

/**
 * The record of a key that this isolate remembers, if it may be used without waiting for KV. One that is no
 * longer fresh is read again behind the response.
 */
export function recallKey(c: Context<AppEnv>, key: string): KeyRecord | undefined {
  const now = Date.now();
  const remembered = memory.recall(key, now);
  if (!remembered) return undefined;
  if (remembered.stale) c.get('log').keyStale = true;
  if (now >= remembered.refreshAt && !reads.has(key)) {
    // A failure is noted in the memory, and shows in the log of the requests after this one.
    c.executionCtx.waitUntil(readKey(c, key).catch(() => {}));
  }
  return remembered.record;
}

/**
 * The record of a key, or `null` when there is none, by way of KV. While KV fails, a key that this isolate has
 * seen keeps its last known state for up to an hour.
 *
 * @throws ApiError 503 when KV fails and the key is not in memory; Error when KV holds an invalid record.
 */
export async function findKey(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const log = c.get('log');
  const start = Date.now();
  try {
    const { record, stale } = await readKey(c, key);
    if (stale) log.keyStale = true;
    return record;
  } finally {
    log.kvMs = Date.now() - start;
  }
}

type Found = { record: KeyRecord | null; stale?: boolean };

async function readKey(c: Context<AppEnv>, key: string): Promise<Found> {
  const read = reads.get(key) ?? startRead(c, key);
  let stored: string | null;
  try {
    stored = await withDeadline(read.result, KV_DEADLINE_MS, 'KV');
  } catch (cause) {
    const remembered = memory.keepStale(key, read.startedAt, Date.now());
    if (!remembered) throw serviceUnavailable('API keys cannot be verified right now.', cause);
    return { record: remembered.record, stale: true };
  } finally {
    if (reads.get(key) === read) reads.delete(key);
  }
  return { record: memory.remember(key, read.startedAt, stored) };
}

function startRead(c: Context<AppEnv>, key: string): KvRead {
  const read = { startedAt: Date.now(), result: readKv(c.env, key) };
  reads.set(key, read);
  // The read may return after this request's deadline: then it still counts, also for those who share it.
  const remembering = read.result.then((stored) => memory.remember(key, read.startedAt, stored));
  c.executionCtx.waitUntil(remembering.catch(() => {}));
  return read;
}

async function readKv(env: Env, key: string): Promise<string | null> {
  return env.API_KEYS.get(await recordName(key), { cacheTtl: KV_CACHE_S });
}
