/** `npm run bundle`: checks that the bundles of staging and production are the same, and small: isolates load them. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runWrangler } from './wrangler.ts';

const MAX_KIB = 30;

const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
try {
  const [staging, production] = await Promise.all(['staging', 'production'].map(build));
  if (!staging || !production?.equals(staging))
    throw new Error('the bundles of staging and production must be the same');
  const kib = gzipSync(production).length / 1024;
  console.log(
    `index.js: ${kib.toFixed(1)} KiB gzip (maximum ${MAX_KIB}), the same for staging and production`,
  );
  if (kib > MAX_KIB) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function build(environment: string): Promise<Buffer> {
  const out = join(folder, environment);
  await runWrangler(['deploy', '--dry-run', '--env', environment, '--outdir', out]);
  return readFile(join(out, 'index.js'));
}
