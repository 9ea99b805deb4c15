/**
 * `npm run bundle`: builds the worker's script for staging and for production. Both scripts must be the same, because a release
 * uploads that of staging to both, and small, because each new isolate loads its script.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import description from '../public/v1/openapi.json' with { type: 'json' };
import { createProgram, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { runWrangler } from './command/wrangler.ts';

const operations = Object.values(description.paths).flatMap(Object.keys);
/** The largest size of the script, in bytes after gzip: 28,600 for ten operations. */
export const MAX_BYTES = 25_600 + 300 * operations.length;

export const program = createProgram(
  'npm run bundle --',
  'Builds the worker, and checks it.',
).action(async () => {
  const [staging, production] = await Promise.all([build('staging'), build('production')]);
  if (!production.equals(staging))
    throw new Error('the scripts of staging and production must be the same');
  const bytes = gzipSync(production).length;
  const size = `index.js: ${bytes} bytes gzip, maximum ${MAX_BYTES}`;
  if (bytes > MAX_BYTES)
    throw new Error(
      `${size}. Remove a dependency or code, or raise MAX_BYTES in ops/check-bundle.ts if the new code is worth its start-up time`,
    );
  console.log(size);
});

if (import.meta.main) await run(program);

/** Builds the script for an environment. Returns its content. */
async function build(environment: string): Promise<Buffer> {
  const folder = join(PROJECT_ROOT, 'dist', environment);
  await runWrangler(['deploy', '--dry-run', '--env', environment, '--outdir', folder]);
  return readFile(join(folder, 'index.js'));
}
