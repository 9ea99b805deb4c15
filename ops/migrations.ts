/** The migrations as the repository has them: what must hold before one of them runs anywhere. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { contractionProblem } from './expand-only.ts';
import { migrationNames, sha256 } from './release/bundle.ts';
import { PROJECT_ROOT } from './wrangler.ts';

const FOLDER = join(PROJECT_ROOT, 'migrations');
const CHECKSUMS = 'checksums.json';

const Checksums = z.record(z.string(), z.string());
type Checksums = z.infer<typeof Checksums>;

/**
 * What is wrong with them, a line each: one that does more than expand; one that was changed since its checksum was
 * recorded, for where it has run it would not run again; one that is gone, misnamed, or not recorded.
 */
export async function migrationProblems(): Promise<string[]> {
  const recorded = await readChecksums();
  return problemsOf(recorded);
}

/** Records the checksums of new ones, if nothing else is wrong. Returns what is. */
export async function recordMigrations(): Promise<string[]> {
  const recorded = await readChecksums();
  for (const name of await migrationNames(PROJECT_ROOT)) recorded[name] ??= await checksum(name);
  const problems = await problemsOf(recorded);
  if (problems.length > 0) return problems;
  await writeFile(join(FOLDER, CHECKSUMS), `${JSON.stringify(recorded, null, 2)}\n`);
  return [];
}

async function problemsOf(recorded: Checksums): Promise<string[]> {
  const names = await migrationNames(PROJECT_ROOT);
  const others = (await readdir(FOLDER)).filter((name) => name !== CHECKSUMS);
  const problems = [
    ...others
      .filter((name) => !names.includes(name))
      .map((name) => `${name}: it is no migration: they are called 0001_what_it_does.sql`),
    ...Object.keys(recorded)
      .filter((name) => !names.includes(name))
      .map((name) => `${name}: it is gone, but may have run already`),
  ];
  for (const [index, name] of names.entries()) {
    const number = String(index + 1).padStart(4, '0');
    if (!/^[0-9]{4}_[a-z0-9_]+\.sql$/.test(name) || !name.startsWith(number)) {
      problems.push(`${name}: it should be called ${number}_what_it_does.sql`);
    }
    const contraction = contractionProblem(await readFile(join(FOLDER, name), 'utf8'));
    if (contraction) problems.push(`${name}: ${contraction}`);
    if (recorded[name] === undefined) {
      problems.push(`${name}: its checksum is not recorded: npm run migrations:record`);
    } else if (recorded[name] !== (await checksum(name))) {
      problems.push(
        `${name}: it was changed after it was recorded: write another migration instead`,
      );
    }
  }
  return problems.map((problem) => `migrations/${problem}`);
}

/** Whatever git makes of line ends. */
async function checksum(name: string): Promise<string> {
  const sql = await readFile(join(FOLDER, name), 'utf8');
  return sha256(sql.replaceAll('\r\n', '\n'));
}

/** @throws Error when the file is not as we write it: as after a merge with conflicts. */
async function readChecksums(): Promise<Checksums> {
  try {
    return Checksums.parse(JSON.parse(await readFile(join(FOLDER, CHECKSUMS), 'utf8')));
  } catch {
    throw new Error(
      `migrations/${CHECKSUMS} is missing, or is not what migrations:record wrote: bring back the committed one`,
    );
  }
}
