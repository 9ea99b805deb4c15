/**
 * The records of API keys that this isolate remembers, and how long each may be used. Times are in milliseconds
 * since 1970. The memory is by the keys themselves, which the isolate has from the requests in any case: to hash
 * them, and to check their format, would take longer than all else of authentication.
 */
import { type KeyRecord, parseRecord } from './record.ts';

/** How long a record is used without reading KV again. */
export const FRESH_MS = 10_000;
/**
 * How old a record may be. Between the two ages it is used while KV is read again. With the minute that KV takes
 * to spread a change, and `cacheTtl`, it makes the two minutes within which a revocation takes effect.
 */
export const MAX_AGE_MS = 30_000;
/** How long a record that is no longer fresh is still used while KV fails. */
export const MAX_STALE_MS = 3_600_000;

type Remembered = {
  record: KeyRecord;
  /** When the KV read began that returned the record. */
  readAt: number;
  /** When to read KV again. Only the outcome of a KV read moves it. */
  refreshAt: number;
  /** The last KV read failed. */
  stale: boolean;
};

/** A memory of at most so many records: those that KV returned last. */
export function createKeyMemory(maxRecords: number) {
  const memory = new Map<string, Remembered>();
  return {
    /** What may be used without waiting for KV. */
    recall(key: string, now: number): Remembered | undefined {
      const remembered = memory.get(key);
      if (!remembered) return undefined;
      const { readAt, refreshAt } = remembered;
      return now < refreshAt || now < readAt + MAX_AGE_MS ? remembered : undefined;
    },

    /**
     * Remembers what a read that began at `readAt` returned, unless a later read has already returned: an old
     * record must not come back. A key without a record is not remembered: guesses must not push out the keys of
     * clients.
     *
     * @throws Error when it is not a valid record.
     */
    remember(key: string, readAt: number, stored: string | null): KeyRecord | null {
      const remembered = memory.get(key);
      if (remembered && remembered.readAt > readAt) return remembered.record;
      memory.delete(key);
      if (stored === null) return null;
      const record = parseRecord(stored);
      const [oldest] = memory.keys();
      if (oldest !== undefined && memory.size >= maxRecords) memory.delete(oldest);
      memory.set(key, { record, readAt, refreshAt: readAt + FRESH_MS, stale: false });
      return record;
    },

    /** What may be used after a read that began at `startedAt` has failed. */
    keepStale(key: string, startedAt: number, now: number): Remembered | undefined {
      const remembered = memory.get(key);
      if (!remembered || now >= remembered.readAt + FRESH_MS + MAX_STALE_MS) return undefined;
      if (remembered.readAt <= startedAt) {
        // Wait before the next read, so that an outage does not delay every request.
        remembered.refreshAt = now + FRESH_MS;
        remembered.stale = true;
      }
      return remembered;
    },
  };
}
