/** `npm run bundle`: checks that the bundles of staging and production are the same, and small: isolates load them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createProgram, run } from './command-line.ts';
import { PROJECT_ROOT, runWrangler } from './wrangler.ts';

const MAX_KIB = 38;

const program = createProgram('npm run bundle --', 'Checks the built worker.').action(async () => {
  const [staging, production] = await Promise.all(['staging', 'production'].map(build));
  if (!staging || !production?.equals(staging))
    throw new Error('the bundles of staging and production must be the same');
  const kib = (gzipSync(production).length / 1024).toFixed(1);
  if (Number(kib) > MAX_KIB) throw new Error(`index.js: ${kib} KiB gzip, more than ${MAX_KIB}`);
  console.log(`index.js: ${kib} KiB gzip (maximum ${MAX_KIB}), the same for both environments`);
});

await run(program);

async function build(environment: string): Promise<Buffer> {
  const folder = join(PROJECT_ROOT, 'dist', environment);
  await runWrangler(['deploy', '--dry-run', '--env', environment, '--outdir', folder]);
  return readFile(join(folder, 'index.js'));
}
