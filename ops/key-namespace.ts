/**
 * Reads and writes the records of API keys in KV: those of the local store, even while it is served, or Cloudflare's. KV
 * holds records under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { generateKey } from '../src/auth/keys/format.ts';
import { KEY_PREFIX, KeyRecord, recordName, type Scope } from '../src/auth/keys/record.ts';
import { runIn } from './wrangler.ts';

export type Environment = 'local' | 'staging' | 'production';

/** A record and its KV name. */
export type StoredKey = { name: string; record: WholeRecord };

/** The metadata is the record itself, so that listing needs no reads. */
const Listing = z.array(z.object({ name: z.string(), metadata: z.optional(z.unknown()) }));

/** The KV namespaces of the environments. */
export type Namespaces = {
  /** The entries with this prefix. */
  list(environment: Environment, prefix: string): Promise<z.infer<typeof Listing>>;
  get(environment: Environment, name: string): Promise<string>;
  /** Writes the JSON as the value and as the metadata. */
  put(environment: Environment, name: string, json: string): Promise<void>;
};

/** Keeps unknown members, which a newer version may have written. */
const WholeRecord = z.looseObject(KeyRecord().shape);
type WholeRecord = z.infer<typeof WholeRecord>;

/**
 * All records, by time of creation. An invalid record only produces a warning: it must not prevent an operator from
 * revoking a key.
 *
 * @throws Error when KV fails.
 */
export async function listKeys(
  environment: Environment,
  namespaces = wranglerNamespaces,
): Promise<StoredKey[]> {
  const keys: StoredKey[] = [];
  for (const { name, metadata } of await namespaces.list(environment, KEY_PREFIX)) {
    const inMetadata = WholeRecord.safeParse(metadata);
    const record = inMetadata.success
      ? inMetadata.data
      : await readRecord(environment, name, namespaces);
    if (record) keys.push({ name, record });
    else console.error(`warning: KV holds an invalid key record under ${name.slice(0, 16)}…`);
  }
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/**
 * The current record with all its members, or `undefined` if it is invalid. (The metadata of a list can be outdated.)
 *
 * @throws Error when KV fails.
 */
export async function readRecord(
  environment: Environment,
  name: string,
  namespaces = wranglerNamespaces,
): Promise<WholeRecord | undefined> {
  const stored = await namespaces.get(environment, name);
  try {
    return WholeRecord.parse(JSON.parse(stored));
  } catch {
    return undefined;
  }
}

/** The scopes of a key that cannot write. */
export const READ_ONLY: Scope[] = ['read'];

type NewKey = {
  expires?: Date | undefined;
  family?: string;
  /** Default: read and write. */
  scopes?: string[] | undefined;
};

/** Generates a key and writes its record. Only the return value contains the key. */
export async function issueKey(
  environment: Environment,
  label: string,
  { expires, family, scopes }: NewKey = {},
  namespaces = wranglerNamespaces,
): Promise<{ key: string; record: KeyRecord }> {
  const key = generateKey(environment);
  const record: KeyRecord = {
    id: `key_${randomBytes(6).toString('hex')}`,
    label,
    createdAt: new Date().toISOString(),
    ...(expires && { expiresAt: expires.toISOString() }),
    ...(scopes && { scopes }),
    ...(family && { family }),
  };
  await putKey(environment, { name: await recordName(key), record }, namespaces);
  return { key, record };
}

/** Writes a record, replacing the current one. */
export async function putKey(
  environment: Environment,
  { name, record }: StoredKey,
  namespaces = wranglerNamespaces,
): Promise<void> {
  await namespaces.put(environment, name, JSON.stringify(WholeRecord.parse(record)));
}

/** The namespaces, read and written with wrangler. Each call runs wrangler once. */
export const wranglerNamespaces: Namespaces = {
  list: async (environment, prefix) =>
    Listing.parse(JSON.parse(await kv(environment, 'list', ['--prefix', prefix]))),
  get: (environment, name) => kv(environment, 'get', [name]),
  async put(environment, name, json) {
    // In a file, because wrangler prints a value that is an argument.
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
    try {
      const path = join(folder, 'record.json');
      await writeFile(path, json);
      await kv(environment, 'put', [name, '--path', path, '--metadata', json]);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

function kv(environment: Environment, command: string, args: string[]): Promise<string> {
  return runIn(environment, ['kv', 'key', command, ...args, '--binding', 'API_KEYS']);
}
