/**
 * Finding a key's record: in the isolate's memory, else in KV. KV reads dominate the bill of a small
 * API and cost a round trip; a client's requests arrive in bursts, so ten seconds save most of them.
 */
import { KeyRecord, recordName } from './record.ts';

/** How long a record is taken from memory, in milliseconds. A revocation waits that long, too. */
const REMEMBERED_MS = 10_000;
/** Bounds the memory: about a kilobyte each. */
const REMEMBERED_RECORDS = 1_000;
/** KV's own cache, in seconds: the least that it allows. */
const CACHE_TTL_S = 30;

const remembered = new Map<string, { record: KeyRecord; until: number }>();

/**
 * The record of a key, or `null` when there is none. A key without a record is not remembered:
 * guesses must not push out the keys of clients.
 *
 * @throws Error when KV fails, or holds something that is no record.
 */
export async function findKey(kv: KVNamespace, key: string): Promise<KeyRecord | null> {
  const name = await recordName(key);
  const known = remembered.get(name);
  if (known && Date.now() < known.until) return known.record;

  const stored = await kv.get(name, { type: 'json', cacheTtl: CACHE_TTL_S });
  remembered.delete(name);
  if (stored === null) return null;
  const record = KeyRecord.parse(stored);
  for (const oldest of remembered.keys()) {
    if (remembered.size < REMEMBERED_RECORDS) break;
    remembered.delete(oldest);
  }
  remembered.set(name, { record, until: Date.now() + REMEMBERED_MS });
  return record;
}
