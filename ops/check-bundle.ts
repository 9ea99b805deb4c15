/**
 * `npm run bundle`: checks that both environments have the same script, because a release uploads that of staging to both, and
 * that it is small, because each new isolate loads it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import description from '../public/v1/openapi.json' with { type: 'json' };
import { createProgram, run } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { runWrangler } from './command/wrangler.ts';

const operations = Object.values(description.paths).flatMap(Object.keys);
/** The largest size of the script, in KiB after gzip: 28 for ten operations. */
export const MAX_KIB = 25 + 0.3 * operations.length;

export const program = createProgram('npm run bundle --', 'Checks the built worker.').action(
  async () => {
    const [staging, production] = await Promise.all([build('staging'), build('production')]);
    if (!production.equals(staging))
      throw new Error('the bundles of staging and production must be the same');
    console.log(checkSize(production));
  },
);

if (import.meta.main) await run(program);

/**
 * Returns a line with the size of the bundle.
 *
 * @throws Error with the place of the limit if the bundle is larger.
 */
function checkSize(bundle: Buffer): string {
  const kib = (gzipSync(bundle).length / 1024).toFixed(1);
  const size = `index.js: ${kib} KiB gzip, maximum ${MAX_KIB.toFixed(1)}`;
  if (Number(kib) <= MAX_KIB) return size;
  const fix =
    'Remove a dependency or code, or raise MAX_KIB in ops/check-bundle.ts if the new code is worth its start-up time';
  throw new Error(`${size}. ${fix}`);
}

/** The script, built for an environment. */
async function build(environment: string): Promise<Buffer> {
  const folder = join(PROJECT_ROOT, 'dist', environment);
  await runWrangler(['deploy', '--dry-run', '--env', environment, '--outdir', folder]);
  return readFile(join(folder, 'index.js'));
}
