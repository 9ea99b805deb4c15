/** `npm run bundle`: checks that the bundles of staging and production are the same, and small: isolates load them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createProgram, run } from './command-line.ts';
import { PROJECT_ROOT, runWrangler } from './wrangler.ts';

/** The largest size of a bundle, in KiB after gzip. */
export const MAX_BUNDLE_KIB = 38;

export const program = createProgram('npm run bundle --', 'Checks the built worker.').action(
  async () => {
    const [staging, production] = await Promise.all([build('staging'), build('production')]);
    if (!production.equals(staging))
      throw new Error('the bundles of staging and production must be the same');
    const kib = checkSize(production);
    console.log(
      `index.js: ${kib} KiB gzip (maximum ${MAX_BUNDLE_KIB}), the same for both environments`,
    );
  },
);

if (import.meta.main) await run(program);

/**
 * The size of a bundle in KiB after gzip, with one decimal.
 *
 * @throws Error with the place of the limit if the bundle is larger.
 */
export function checkSize(bundle: Buffer): string {
  const kib = (gzipSync(bundle).length / 1024).toFixed(1);
  if (Number(kib) <= MAX_BUNDLE_KIB) return kib;
  const excess = `index.js: ${kib} KiB gzip, more than the maximum of ${MAX_BUNDLE_KIB}`;
  const limit = '(MAX_BUNDLE_KIB in ops/check-bundle.ts)';
  const fix =
    'If the new code is worth its start-up time, raise the maximum. Otherwise remove a dependency or code: src/ and its imports make the bundle.';
  throw new Error(`${excess} ${limit}. ${fix}`);
}

async function build(environment: string): Promise<Buffer> {
  const folder = join(PROJECT_ROOT, 'dist', environment);
  await runWrangler(['deploy', '--dry-run', '--env', environment, '--outdir', folder]);
  return readFile(join(folder, 'index.js'));
}
