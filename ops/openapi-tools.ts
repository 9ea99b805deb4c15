/**
 * `npm run openapi:tools`: tests the description with linters and client generators. Installs them first, in
 * openapi-tools/ with its own lock file, because they are larger than all other packages together.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createTestHarness } from 'wrangler';
import { recordName } from '../src/auth/keys/record.ts';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from './local-store.ts';
import { PROJECT_ROOT } from './wrangler.ts';

const FOLDER = join(PROJECT_ROOT, 'openapi-tools');
const DESCRIPTION = '../public/v1/openapi.json';

const npm = process.env.npm_execpath;
if (!npm) throw new Error('must be run with npm: npm run openapi:tools');
await run(
  npm,
  ...['install', '--no-save', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'],
);
await rm(join(FOLDER, 'dist'), { recursive: true, force: true });

// spectral.yaml and ibm.yaml list the accepted findings with their reasons.
await tool('spectral', 'lint', DESCRIPTION, '--ruleset=spectral.yaml', '--fail-severity=hint');
await tool('lint-openapi', DESCRIPTION, '--ruleset=ibm.yaml', '--warnings-limit=0');

await tool('openapi-typescript', DESCRIPTION, '--output=dist/openapi-typescript.d.ts');
await tool('openapi-ts');
await tool('orval');
await tool('tsc');
await callStore();

/** Calls a temporary store with each generated client. */
async function callStore(): Promise<void> {
  const outfile = join(FOLDER, 'dist/clients.js');
  await build({
    ...{ entryPoints: [join(FOLDER, 'clients.ts')], outfile },
    ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' },
  });
  // Otherwise the runtime fetches a sample of `request.cf` from the network.
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';
  const workers = [{ configPath: 'wrangler.toml' }];
  const server = createTestHarness({ root: PROJECT_ROOT, workers });
  try {
    const { url } = await server.listen();
    const worker = server.getWorker<Env>();
    await worker.applyD1Migrations('DB');
    const { API_KEYS } = await worker.getEnv();
    await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(LOCAL_KEY_RECORD));
    process.env.STORE_URL = new URL('/v1', url).href;
    process.env.STORE_KEY = LOCAL_KEY;
    await run(outfile);
  } finally {
    await server.close();
  }
}

function tool(name: string, ...args: string[]): Promise<void> {
  return run(join('node_modules/.bin', name), ...args);
}

/** Runs a Node.js script in openapi-tools/. */
async function run(script: string, ...args: string[]): Promise<void> {
  const child = spawn(process.execPath, [script, ...args], { cwd: FOLDER, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} failed`);
}
