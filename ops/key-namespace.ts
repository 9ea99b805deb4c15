/**
 * The records of API keys in KV: the local store's, also while it is served, or Cloudflare's. KV holds records
 * under the hashes of keys, never a key.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { generateKey } from '../src/keys/format.ts';
import { KEY_PREFIX, KeyRecord, recordName, type Scope } from '../src/keys/record.ts';
import { runIn } from './wrangler.ts';

export type Environment = 'local' | 'staging' | 'production';

/** A record, and the name under which KV holds it. */
export type StoredKey = { name: string; record: WholeRecord };

/** The metadata is the record itself, so that listing costs no reads. */
const Listing = z.array(z.object({ name: z.string(), metadata: z.optional(z.unknown()) }));

/** The KV namespaces of the environments. */
export type Namespaces = {
  /** The entries with this prefix. */
  list(environment: Environment, prefix: string): Promise<z.infer<typeof Listing>>;
  get(environment: Environment, name: string): Promise<string>;
  /** Writes the JSON as the value and as the metadata. */
  put(environment: Environment, name: string, json: string): Promise<void>;
};

/** Unknown members are kept: a newer version may have written them. */
const WholeRecord = z.looseObject(KeyRecord().shape);
type WholeRecord = z.infer<typeof WholeRecord>;

/**
 * All records, in the order in which the keys were created. What is no record is left out, and named
 * on standard error: it must not keep an operator from revoking a key.
 *
 * @throws Error when KV fails.
 */
export async function listKeys(
  environment: Environment,
  namespaces = throughWrangler,
): Promise<StoredKey[]> {
  const keys: StoredKey[] = [];
  for (const { name, metadata } of await namespaces.list(environment, KEY_PREFIX)) {
    const inMetadata = WholeRecord.safeParse(metadata);
    const record = inMetadata.success
      ? inMetadata.data
      : await readRecord(environment, name, namespaces);
    if (record) keys.push({ name, record });
    else console.error(`warning: KV holds something that is no record under ${name.slice(0, 16)}…`);
  }
  return keys.sort((a, b) => a.record.createdAt.localeCompare(b.record.createdAt));
}

/**
 * A record with all its members as KV has it now, or `undefined` when it is none. (A list can be older.)
 *
 * @throws Error when KV fails.
 */
export async function readRecord(
  environment: Environment,
  name: string,
  namespaces = throughWrangler,
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

/** Makes a key and writes its record. The key is in nothing but what this returns. */
export async function issueKey(
  environment: Environment,
  label: string,
  { expires, family, scopes }: NewKey = {},
  namespaces = throughWrangler,
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

/** Writes a record, in place of the one that is there. */
export async function putKey(
  environment: Environment,
  { name, record }: StoredKey,
  namespaces = throughWrangler,
): Promise<void> {
  await namespaces.put(environment, name, JSON.stringify(WholeRecord.parse(record)));
}

/** The namespaces as wrangler reads and writes them. Each call runs wrangler once. */
export const throughWrangler: Namespaces = {
  list: async (environment, prefix) =>
    Listing.parse(JSON.parse(await kv(environment, 'list', ['--prefix', prefix]))),
  get: (environment, name) => kv(environment, 'get', [name]),
  async put(environment, name, json) {
    // Through a file: wrangler prints a value that it is given as an argument.
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
