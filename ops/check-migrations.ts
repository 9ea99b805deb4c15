/**
 * `npm run migrations:check`: refuses a migration that does more than expand, and one that has changed since
 * migrations/checksums.json was told of it: where it has run already it would not run again. With `--record`
 * (`npm run migrations:record`) that file is told of the new ones.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contractionProblem } from './expand-only.ts';
import { migrationNames, sha256 } from './release/bundle.ts';
import { PROJECT_ROOT } from './wrangler.ts';

const FOLDER = join(PROJECT_ROOT, 'migrations');
const CHECKSUMS = join(FOLDER, 'checksums.json');

const record = process.argv.includes('--record');
const recorded: Record<string, string> = JSON.parse(await readFile(CHECKSUMS, 'utf8'));
const names = await migrationNames(PROJECT_ROOT);
const problems: string[] = [];

for (const name of Object.keys(recorded)) {
  if (!names.includes(name)) problems.push(`${name}: it is gone, but may have run already`);
}
for (const [index, name] of names.entries()) {
  const sql = await readFile(join(FOLDER, name), 'utf8');
  const checksum = sha256(sql.replaceAll('\r\n', '\n'));
  const number = String(index + 1).padStart(4, '0');
  if (!/^[0-9]{4}_[a-z0-9_]+\.sql$/.test(name) || !name.startsWith(number)) {
    problems.push(`${name}: it should be called ${number}_what_it_does.sql`);
  }
  const contraction = contractionProblem(sql);
  if (contraction) problems.push(`${name}: ${contraction}`);
  if (record) recorded[name] ??= checksum;
  if (recorded[name] === undefined) {
    problems.push(`${name}: its checksum is not recorded: npm run migrations:record`);
  } else if (recorded[name] !== checksum) {
    problems.push(`${name}: it was changed after it was recorded: write another migration instead`);
  }
}

for (const problem of problems) console.error(`migrations/${problem}`);
if (problems.length > 0) process.exitCode = 1;
else if (record) await writeFile(CHECKSUMS, `${JSON.stringify(recorded, null, 2)}\n`);
if (problems.length === 0) console.log(`migrations: ${names.length}, as they were recorded`);
