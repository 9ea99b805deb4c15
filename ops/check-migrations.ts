/**
 * `npm run migrations:check`: refuses migrations that do more than expand, or have changed. With `--record`
 * (`npm run migrations:record`) new ones are added to migrations/checksums.json.
 */
import { parseArgs } from 'node:util';
import { migrationProblems, recordMigrations } from './migrations.ts';

try {
  const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
  const problems = await (values.record ? recordMigrations() : migrationProblems());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log('migrations: they only expand, and are as they were recorded');
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
