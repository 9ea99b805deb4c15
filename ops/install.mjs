// `npm run setup`, the first step of `npm start`, `npm run dev` and `npm test`: installs the packages of package-lock.json, unless they
// are installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fail, isInstalled, LOCK, NEEDS_NODE, rejectProxy } from './packages.mjs';

/** They win over the settings of the user. */
const OPTIONS = [
  '--ignore-scripts',
  '--include=dev',
  '--include=optional',
  '--bin-links',
  '--engine-strict=false',
  // Versions are chosen already. With an age, npm would need the addresses of packages, which package-lock.json does not have.
  '--min-release-age=0',
  // Otherwise npm acts on a folder above that lists this one among its workspaces.
  '--prefix=.',
  // `npm run --silent` passes its own level on, which would hide the reason for a failure.
  '--loglevel=error',
];

rejectProxy();
if (NEEDS_NODE || !isInstalled()) {
  console.error('Installing the packages of package-lock.json, which can take minutes …');
  await npm('ci');
  // npm 10 installs the packaged Node.js without its link in node_modules/.bin: https://github.com/npm/cli/issues/4362
  if (NEEDS_NODE) await npm('rebuild');
  if (NEEDS_NODE && !existsSync('node_modules/.bin/node'))
    fail('ops/node has no Node.js for this platform: install Node.js 22.18 or later');
  if (!isInstalled())
    fail('npm has not installed the packages of package-lock.json in this folder');
}

/** Runs npm, and shows only its errors. Fails if another command runs it in this folder. */
async function npm(command) {
  const npmScript = process.env.npm_execpath;
  if (!existsSync(npmScript ?? '')) fail('npm was not found: run npm run setup');
  try {
    writeFileSync(LOCK, '', { flag: 'wx' });
  } catch {
    fail(
      'cannot create .installing: if another command installs the packages, wait for its end; otherwise delete it',
    );
  }
  const args = [npmScript, command, ...OPTIONS, `--cache=${findCache()}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  // Otherwise npm can go on for a minute after a signal: https://github.com/npm/cli/issues/5976
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill('SIGKILL'));
  const [code] = await once(child, 'close');
  rmSync(LOCK);
  if (code !== 0)
    fail('the packages are not installed: npm was interrupted, or names the cause above');
}

/** The folder of npm's cache. In a home folder that cannot be written (`docker run --user 12345`), npm would fail: then in this project. */
function findCache() {
  const cache = process.env.npm_config_cache ?? '';
  try {
    mkdirSync(cache, { recursive: true });
    accessSync(cache, constants.W_OK);
    return cache;
  } catch {
    return '.wrangler/npm';
  }
}
