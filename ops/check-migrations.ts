/**
 * `npm run migrations:check`: rejects migrations that have changed. With `--record` (`npm run migrations:record`) it
 * adds the hashes of new ones to migrations/hashes.json.
 */
import { parseArgs } from 'node:util';
import { migrationProblems, recordMigrations } from './migrations.ts';

try {
  const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
  const problems = await (values.record ? recordMigrations() : migrationProblems());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log('migrations: unchanged');
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
