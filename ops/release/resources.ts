/** The D1 database and the KV namespace of an environment: found by name, or created. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { runWrangler } from '../wrangler.ts';

/** Where D1 can be asked to keep the primary. */
export const LOCATIONS = ['weur', 'eeur', 'apac', 'oc', 'wnam', 'enam'];

const API = 'https://api.cloudflare.com/client/v4';

const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));
const Namespaces = z.array(z.object({ id: z.string(), title: z.string() }));
const Replication = z.object({ read_replication: z.object({ mode: z.string() }).optional() });

/** An account of Cloudflare's, whatever wrangler.toml says. */
export type Account = {
  findDatabase(name: string): Promise<string | undefined>;
  createDatabase(name: string, location?: string): Promise<string>;
  findNamespace(title: string): Promise<string | undefined>;
  createNamespace(title: string): Promise<string>;
  /** Whether D1 keeps replicas of a database that reads may be answered by. */
  isReplicated(databaseId: string): Promise<boolean>;
};

/** Uses an account through wrangler. */
export async function withAccount<T>(
  id: string,
  use: (account: Account) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    const config = join(folder, 'wrangler.json');
    await writeFile(config, JSON.stringify({ name: 'animal-store', account_id: id }));
    return await use(account((...args) => runWrangler([...args, '--config', config])));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function account(wrangler: (...args: string[]) => Promise<string>): Account {
  const self: Account = {
    async findDatabase(name) {
      const found = Databases.parse(JSON.parse(await wrangler('d1', 'list', '--json')));
      return found.find((database) => database.name === name)?.uuid;
    },
    async createDatabase(name, location) {
      await wrangler('d1', 'create', name, ...(location ? ['--location', location] : []));
      return created(await self.findDatabase(name), name);
    },
    async findNamespace(title) {
      const found = Namespaces.parse(JSON.parse(await wrangler('kv', 'namespace', 'list')));
      return found.find((namespace) => namespace.title === title)?.id;
    },
    async createNamespace(title) {
      await wrangler('kv', 'namespace', 'create', title);
      return created(await self.findNamespace(title), title);
    },
    async isReplicated(databaseId) {
      const info = Replication.parse(
        JSON.parse(await wrangler('d1', 'info', databaseId, '--json')),
      );
      return info.read_replication?.mode === 'auto';
    },
  };
  return self;
}

/**
 * Switches D1's read replication on: wrangler cannot. False without an API token that may.
 * https://developers.cloudflare.com/api/resources/d1/subresources/database/methods/update
 */
export async function replicate(accountId: string, databaseId: string): Promise<boolean> {
  const token = process.env.CLOUDFLARE_API_TOKEN;
  if (!token) return false;
  const api = process.env.CLOUDFLARE_API_BASE_URL ?? API;
  const response = await fetch(`${api}/accounts/${accountId}/d1/database/${databaseId}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ read_replication: { mode: 'auto' } }),
    signal: AbortSignal.timeout(30_000),
  });
  if (response.status === 401 || response.status === 403) return false;
  if (!response.ok)
    throw new Error(`D1 read replication: ${response.status} ${await response.text()}`);
  return true;
}

function created(id: string | undefined, name: string): string {
  if (!id) throw new Error(`${name} was created, but is not in the account's list`);
  return id;
}
