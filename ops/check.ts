/** `npm run check`: runs every check, also after one has failed, and ends with those that failed. */
import { createProgram, run, runScript } from './command/command-line.ts';

/** The npm scripts, in order, each with what to do when it fails. */
const CHECKS = {
  lint: 'run npm run format',
  typecheck: 'fix the type errors above',
  'types:check': 'run npm run types',
  'openapi:check': 'run npm run openapi',
  'openapi:lint': 'fix the problems above in openapi/',
  bundle: 'see its error above',
};

export const program = createProgram('npm run check --', 'Runs every check.').action(() => {
  const failed = Object.entries(CHECKS).filter(([script]) => !runScript(script));
  for (const [script, fix] of failed) console.error(`failed: ${script}, ${fix}`);
  if (failed.length > 0) process.exitCode = 1;
  else console.log('All checks passed.');
});

if (import.meta.main) await run(program);

/** Runs the script as npm does. Not by the name `npm`, which is a batch file on Windows. */
