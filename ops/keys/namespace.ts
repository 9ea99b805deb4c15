/**
 * Reads and writes the records of API keys in KV: those of the local store, even while it is served, or Cloudflare's. KV
 * holds records under the hashes of keys, never a key.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { KEY_PREFIX, KeyRecord } from '../../src/auth/keys/record.ts';
import type { Environment } from '../command-line.ts';
import { runIn } from '../wrangler.ts';

/** Keeps unknown members, which a newer version may have written. */
const WholeRecord = z.looseObject(KeyRecord().shape);
export type WholeRecord = z.infer<typeof WholeRecord>;

/** A record and its KV name. */
export type StoredKey = { name: string; record: WholeRecord };

/** The metadata is the record itself, so that listing needs no reads. */
const Listing = z.array(z.object({ name: z.string(), metadata: z.optional(z.unknown()) }));

/** The KV namespace of an environment. */
export type Namespace = {
  list(): Promise<z.infer<typeof Listing>>;
  get(name: string): Promise<string>;
  /** Writes a record, as JSON, as the value and as the metadata. */
  put(name: string, record: WholeRecord): Promise<void>;
};

/** The namespace, read and written with wrangler. Each call runs wrangler once. */
export function wranglerNamespace(environment: Environment): Namespace {
  const where = environment === 'local' ? '--local' : '--remote';
  const kv = (command: string, ...args: string[]) =>
    runIn(environment, ['kv', 'key', command, ...args, '--binding', 'API_KEYS', where]);
  return {
    list: async () => Listing.parse(JSON.parse(await kv('list', '--prefix', KEY_PREFIX))),
    get: (name) => kv('get', name),
    async put(name, record) {
      const json = JSON.stringify(WholeRecord.parse(record));
      // In a file, because wrangler prints a value that is an argument.
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
      try {
        const path = join(folder, 'record.json');
        await writeFile(path, json);
        await kv('put', name, '--path', path, '--metadata', json);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

/**
 * All records, by time of creation. An invalid record only produces a warning: it must not prevent an operator from
 * revoking a key.
 *
 * @throws Error when KV fails.
 */
export async function listKeys(namespace: Namespace): Promise<StoredKey[]> {
  const keys: StoredKey[] = [];
  for (const { name, metadata } of await namespace.list()) {
    const record = WholeRecord.safeParse(metadata).data ?? (await readRecord(namespace, name));
    if (record) keys.push({ name, record });
    else console.error(`warning: KV holds an invalid key record under ${name.slice(0, 16)}…`);
  }
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/**
 * The key with this id, with its current record. (The metadata of a list can be outdated.)
 *
 * @throws Error when KV fails, or when there is not exactly one key with this id.
 */
export async function keyById(namespace: Namespace, id: string): Promise<StoredKey> {
  const found = (await listKeys(namespace)).filter(({ record }) => record.id === id);
  const [key] = found;
  if (!key) throw new Error(`there is no key with the id "${id}"`);
  if (found.length > 1) throw new Error(`${found.length} keys have the id "${id}"`);
  return { ...key, record: (await readRecord(namespace, key.name)) ?? key.record };
}

/** A record with all its members, or `undefined` if it is invalid. */
async function readRecord(namespace: Namespace, name: string): Promise<WholeRecord | undefined> {
  const stored = await namespace.get(name);
  try {
    return WholeRecord.parse(JSON.parse(stored));
  } catch {
    return undefined;
  }
}
