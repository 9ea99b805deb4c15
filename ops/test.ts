/** `npm test` and `npm run test:…`: runs the tests of one project of vitest.config.ts, with any option of vitest. */
import { existsSync } from 'node:fs';
import { createCLI } from 'vitest/node';
import { safeMessage } from './command/command-line.ts';

const [project = '', ...args] = process.argv.slice(2);

if (project === 'browser') {
  const { CHROMIUM } = await import('../test/support/browser.ts');
  if (!existsSync(CHROMIUM))
    fail(`there is no Chromium at ${CHROMIUM}. Set CHROMIUM to the path of its program`, 1);
}
try {
  createCLI().parse(['node', 'vitest', 'run', '--project', project, ...args]);
} catch (error) {
  // Vitest's own command shows the stack of an unknown option.
  fail(safeMessage(error), 2);
}

function fail(message: string, exitCode: number): never {
  console.error(`error: ${message}`);
  process.exit(exitCode);
}
