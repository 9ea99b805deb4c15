/**
 * The last step of `npm run check`: builds the worker's script for staging and for production. Both
 * scripts must be the same, because a promotion builds the commit that was tested on staging again,
 * and small, because each new isolate loads its script.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type DeployedEnvironment, reportFailure } from './command/command-line.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { runWranglerIn } from './command/wrangler.ts';

/** A larger script has a mistake, such as an import of the description. */
const LIMIT = 32_000;

await check().catch(reportFailure);

async function check() {
  const [staging, production] = await Promise.all([build('staging'), build('production')]);
  if (!production.equals(staging))
    throw new Error('the scripts of staging and production must be the same');
  const bytes = gzipSync(production).length;
  console.log(`index.js: ${bytes} of at most ${LIMIT} bytes gzip`);
  if (bytes > LIMIT) throw new Error('the script is too large');
}

/** Builds the script for an environment. Returns its content. */
async function build(environment: DeployedEnvironment): Promise<Buffer> {
  const folder = join(PROJECT_ROOT, 'dist', environment);
  await runWranglerIn(environment, ['deploy', '--dry-run', '--outdir', folder]);
  return readFile(join(folder, 'index.js'));
}
