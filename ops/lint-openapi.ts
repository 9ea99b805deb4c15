/** `npm run openapi:lint`: checks the OpenAPI description with Redocly, whose rules are in redocly.yaml. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createProgram, run } from './command-line.ts';
import { PROJECT_ROOT } from './wrangler.ts';

export const program = createProgram(
  'npm run openapi:lint --',
  'Checks the OpenAPI description with Redocly.',
).action(() => {
  const redocly = join(PROJECT_ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const command = [redocly, 'lint', 'public/v1/openapi.json'];
  const { status } = spawnSync(process.execPath, command, { cwd: PROJECT_ROOT, stdio: 'inherit' });
  process.exitCode = status ?? 1;
});

if (import.meta.main) await run(program);
