/**
 * The isolate's cache of key records. Times are in milliseconds since 1970. Entries are stored under the keys
 * themselves, which the isolate already receives in requests: hashing a key or checking its format would take longer
 * than the rest of authentication.
 */
import type { KeyRecord } from './record.ts';

/** How long a record is fresh: used without reading KV again. */
const FRESH_MS = 10_000;
/**
 * How long a record is used while KV works. After `FRESH_MS`, its use starts a KV read in the background. So a revocation
 * takes effect at most this long after KV shows the change; KV promises "60 seconds or more" for that.
 * https://developers.cloudflare.com/kv/concepts/how-kv-works/
 */
export const MAX_AGE_MS = 30_000;
/** How long a record is used after it is no longer fresh, if KV fails. */
const MAX_STALE_MS = 3_600_000;

type Entry = {
  record: KeyRecord;
  /** When the KV read that returned the record began. */
  readAt: number;
  /** When to read KV again. After a failed read this can be later than the maximum age. */
  refreshAt: number;
  lastReadFailed: boolean;
};

/** A cache of at most `maxRecords` records. The record that KV returned longest ago is evicted first. */
export function createKeyCache(maxRecords: number) {
  const entries = new Map<string, Entry>();
  return {
    /** The entry of a key, if it may be used without waiting for KV. */
    get(key: string, now: number): Entry | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      // Only after a failed read is refreshAt later than the maximum age.
      return now < entry.refreshAt || now < entry.readAt + MAX_AGE_MS ? entry : undefined;
    },

    /**
     * Caches the result of a KV read that began at `readAt`, unless the cached record is from a later read. `null`, for a
     * key without a record, removes the entry: such keys are not cached, so that guessed keys cannot evict the keys of
     * clients.
     */
    put(key: string, readAt: number, record: KeyRecord | null): void {
      const entry = entries.get(key);
      if (entry && entry.readAt > readAt) return;
      entries.delete(key);
      if (record === null) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined && entries.size >= maxRecords) entries.delete(oldest);
      entries.set(key, { record, readAt, refreshAt: readAt + FRESH_MS, lastReadFailed: false });
    },

    /**
     * Marks the entry after a failed KV read that began at `startedAt`, unless a later read has succeeded.
     *
     * @returns the entry, if it may still be used.
     */
    markFailedRead(key: string, startedAt: number, now: number): Entry | undefined {
      const entry = entries.get(key);
      if (!entry || now >= entry.readAt + FRESH_MS + MAX_STALE_MS) return undefined;
      if (entry.readAt <= startedAt) {
        // The delay before the next read keeps an outage from delaying every request.
        entry.refreshAt = now + FRESH_MS;
        entry.lastReadFailed = true;
      }
      return entry;
    },
  };
}
