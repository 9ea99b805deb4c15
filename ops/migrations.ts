/** The migrations of the repository, and their check before they run. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PROJECT_ROOT } from './wrangler.ts';

const HASHES = 'migrations/hashes.json';

const Hashes = z.record(z.string(), z.string());
type Hashes = z.infer<typeof Hashes>;

/**
 * The problems of the migrations, one line each: a migration that was changed after its hash was recorded
 * (databases where it has run do not run it again), or that is missing, misnamed or unrecorded.
 */
export async function migrationProblems(root = PROJECT_ROOT): Promise<string[]> {
  const recorded = await readHashes(root);
  return problemsOf(root, recorded);
}

/** Records the hashes of new migrations if there is no other problem. Returns the problems. */
export async function recordMigrations(root = PROJECT_ROOT): Promise<string[]> {
  const recorded = await readHashes(root);
  for (const name of await migrationNames(root)) recorded[name] ??= await hash(root, name);
  const problems = await problemsOf(root, recorded);
  if (problems.length > 0) return problems;
  await writeFile(join(root, HASHES), `${JSON.stringify(recorded, null, 2)}\n`);
  return [];
}

async function problemsOf(root: string, recorded: Hashes): Promise<string[]> {
  const names = await migrationNames(root);
  const others = (await readdir(join(root, 'migrations'))).filter(
    (name) => `migrations/${name}` !== HASHES,
  );
  const problems = [
    ...others
      .filter((name) => !names.includes(name))
      .map(
        (name) =>
          `${name}: is not a migration; a migration must be named like 0001_what_it_does.sql`,
      ),
    ...Object.keys(recorded)
      .filter((name) => !names.includes(name))
      .map((name) => `${name}: is missing, but may have run already`),
  ];
  for (const [index, name] of names.entries()) {
    const number = String(index + 1).padStart(4, '0');
    if (!/^[0-9]{4}_[a-z0-9_]+\.sql$/.test(name) || !name.startsWith(number)) {
      problems.push(`${name}: must be named ${number}_what_it_does.sql`);
    }
    if (recorded[name] === undefined) {
      problems.push(`${name}: its hash is not recorded; run \`npm run migrations:record\``);
    } else if (recorded[name] !== (await hash(root, name))) {
      problems.push(`${name}: was changed after it was recorded; add another migration instead`);
    }
  }
  return problems.map((problem) => `migrations/${problem}`);
}

/** Does not depend on line endings, which git may change. */
async function hash(root: string, name: string): Promise<string> {
  const sql = await readFile(join(root, 'migrations', name), 'utf8');
  return sha256(sql.replaceAll('\r\n', '\n'));
}

/** @throws Error when the file is invalid, for example after a merge with conflicts. */
async function readHashes(root: string): Promise<Hashes> {
  try {
    return Hashes.parse(JSON.parse(await readFile(join(root, HASHES), 'utf8')));
  } catch {
    throw new Error(`${HASHES} is missing or invalid; restore the committed file`);
  }
}

/** The `.sql` files of a folder's migrations, in the order in which they run. */
export async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, 'migrations'), { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.sql'));
  return files.map(({ name }) => name).sort();
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
