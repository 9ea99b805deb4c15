/** The D1 database of an environment: what has run there, and where it can be taken back to. */
import * as z from 'zod';
import { DIST_CONFIG } from './bundle.ts';
import { wrangler } from './cloudflare.ts';
import type { Target } from './target.ts';

/**
 * D1's present state, to which Time Travel can return for 30 days.
 * https://developers.cloudflare.com/d1/reference/time-travel/
 */
export async function bookmark(target: Target): Promise<string> {
  const output = await wrangler(target, ['d1', 'time-travel', 'info', 'DB', '--json']);
  return z.object({ bookmark: z.string() }).parse(JSON.parse(output)).bookmark;
}

/** The command that takes the database back. It is for a person to run: what was written since is lost. */
export function timeTravelCommand({ environment }: Target, bookmark: string): string {
  return `npx wrangler d1 time-travel restore DB --env ${environment} --bookmark=${bookmark}`;
}

const Rows = z.tuple([z.object({ results: z.array(z.object({ name: z.string() })) })]);

/** The names of the migrations that have run. (`d1 migrations list` would write.) */
export async function appliedMigrations(target: Target): Promise<string[]> {
  try {
    const output = await query(target, 'SELECT name FROM d1_migrations ORDER BY id');
    return Rows.parse(JSON.parse(output))[0].results.map(({ name }) => name);
  } catch (error) {
    if (/no such table: d1_migrations/.test(String(error))) return [];
    throw error;
  }
}

/** Runs the migrations of dist/ that have not run yet. */
export async function applyMigrations(target: Target): Promise<void> {
  await wrangler(target, ['d1', 'migrations', 'apply', 'DB', '--remote', '--config', DIST_CONFIG]);
}

/** Runs a statement, and returns wrangler's JSON. */
export function query(target: Target, sql: string): Promise<string> {
  return wrangler(target, ['d1', 'execute', 'DB', '--remote', '--json', '--command', sql]);
}
