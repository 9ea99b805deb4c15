/**
 * Finding a key's record: in the isolate's memory, else in KV. KV reads dominate the bill of a small
 * API and cost a round trip, and a client's requests come in bursts: ten seconds save most of them.
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { limitAddress } from '../middleware/rate-limit.ts';
import { KeyRecord, recordName } from './record.ts';

/** How long a record is taken from memory, in milliseconds. A revocation waits that long, too. */
const REMEMBERED_MS = 10_000;
/** How long after that a record is still good for when KV fails, in milliseconds. */
const KEPT_MS = 3_600_000;
/** Bounds the memory: a record takes about a kilobyte. */
const MAX_REMEMBERED = 1_000;

/** How long KV may take, in milliseconds. */
const KV_DEADLINE_MS = 2_000;
/** How long KV's own cache keeps a record, in seconds: the least that it allows. */
const KV_CACHE_S = 30;

type Remembered = {
  record: KeyRecord;
  /** When KV is to be asked again. */
  refreshAt: number;
  /** When the record is no longer good for anything. */
  forgetAt: number;
  /** KV failed when it was asked again. */
  stale: boolean;
};

const memory = new Map<string, Remembered>();

/**
 * The record of a key, or `null` when there is none. When KV fails, a key that this isolate has seen
 * stays what it was, for up to an hour.
 *
 * @throws ApiError 429 when the client's address has asked for too many keys that are not remembered;
 *   503 when KV fails and the key is not remembered. Error when KV holds something that is no record.
 */
export async function findKey(c: Context<AppEnv>, key: string): Promise<KeyRecord | null> {
  const name = recordName(key);
  const known = recall(name);
  if (known && Date.now() < known.refreshAt) return use(known, c);
  if (!known) await limitAddress(c);
  // Requests that come while KV is being asked take what is remembered.
  if (known) known.refreshAt = Date.now() + KV_DEADLINE_MS;
  const start = Date.now();
  let stored: string | null;
  try {
    const reading = c.env.API_KEYS.get(name, { cacheTtl: KV_CACHE_S });
    stored = await withDeadline(reading, KV_DEADLINE_MS, 'KV');
  } catch (cause) {
    if (!known) throw serviceUnavailable('API keys cannot be checked right now.', cause);
    // Asked again after a while, so that an outage does not hold up every request.
    known.refreshAt = Date.now() + REMEMBERED_MS;
    known.stale = true;
    return use(known, c);
  } finally {
    c.get('log').kvMs = Date.now() - start;
  }
  return remember(name, stored);
}

function use({ record, stale }: Remembered, c: Context<AppEnv>): KeyRecord {
  if (stale) c.get('log').keyStale = true;
  return record;
}

function recall(name: string): Remembered | undefined {
  const known = memory.get(name);
  return known && Date.now() < known.forgetAt ? known : undefined;
}

/** A key without a record is not remembered: guesses must not push out the keys of clients. */
function remember(name: string, stored: string | null): KeyRecord | null {
  memory.delete(name);
  if (stored === null) return null;
  const record = parseRecord(stored);
  const [oldest] = memory.keys();
  if (oldest !== undefined && memory.size >= MAX_REMEMBERED) memory.delete(oldest);
  const refreshAt = Date.now() + REMEMBERED_MS;
  memory.set(name, { record, refreshAt, forgetAt: refreshAt + KEPT_MS, stale: false });
  return record;
}

/** Says nothing of what is there instead: this message is logged. */
function parseRecord(stored: string): KeyRecord {
  try {
    return KeyRecord.parse(JSON.parse(stored));
  } catch {
    throw new Error('KV holds something that is no record of a key.');
  }
}
