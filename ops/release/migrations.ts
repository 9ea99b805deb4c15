/** Compares the migrations of the checkout with those that an environment has. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { readJson, type Target } from './deployments.ts';

const Rows = z.tuple([z.object({ results: z.array(z.object({ name: z.string() })) })]);

/** The migrations that are not applied. It only reads: `d1 migrations list` would create wrangler's table. */
export async function readPendingMigrations(target: Target): Promise<string[]> {
  const tables = await readNames(target, "sqlite_schema WHERE name = 'd1_migrations'");
  // Without wrangler's table, no migration is applied.
  const applied = tables.length === 0 ? [] : await readNames(target, 'd1_migrations');
  const files = await readdir(join(PROJECT_ROOT, 'migrations'));
  return files.filter((file) => file.endsWith('.sql') && !applied.includes(file)).sort();
}

async function readNames(target: Target, from: string): Promise<string[]> {
  const query = ['d1', 'execute', 'DB', '--remote', '--command', `SELECT name FROM ${from}`];
  const [{ results }] = await readJson(Rows, target, ...query);
  return results.map(({ name }) => name);
}
