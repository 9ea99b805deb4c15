// `npm run setup`, the first step of most commands: installs the packages of package-lock.json, unless they are installed. Plain
// JavaScript for Node.js 20, because it runs before the project's Node.js is installed. npm's settings are in .npmrc.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** `npm ci` first removes this file, and writes it when every package is installed. */
const INSTALLED = 'node_modules/.package-lock.json';
/** Exists while a command installs the packages of this folder. */
const LOCK = '.installing';

if (!isInstalled()) {
  console.error('Installing the packages of package-lock.json, which can take minutes …');
  await npm('ci');
}
const installed = readPackages(INSTALLED);
const nodePath = Object.keys(installed).find((path) => installed[path].bin?.node);
// npm 10 installs the package of the project's Node.js, but removes its link from node_modules/.bin, together with those of the
// packages for other platforms:
// https://github.com/npm/cli/issues/4362
if (nodePath && !existsSync('node_modules/.bin/node'))
  await npm('rebuild', nodePath.replace('node_modules/', ''));

/** Whether each package is installed in its locked version. Only optional ones may be missing. */
function isInstalled() {
  if (existsSync(LOCK)) return false;
  try {
    const installed = readPackages(INSTALLED);
    return Object.entries(readPackages('package-lock.json')).every(([path, locked]) => {
      // The project itself and its workspaces need no installation.
      if (!path.includes('node_modules/') || locked.link) return true;
      // An optional package can be one for another platform.
      if (!installed[path]) return locked.optional;
      return installed[path].version === locked.version && existsSync(path);
    });
  } catch {
    // INSTALLED is missing, or was cut off by a crash or a full disk.
    return false;
  }
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/** Runs npm, and shows only its errors. Fails if another command runs it in this folder. */
async function npm(...args) {
  const npmScript = process.env.npm_execpath;
  if (!existsSync(npmScript ?? '')) fail('npm was not found: run npm run setup');
  try {
    writeFileSync(LOCK, '', { flag: 'wx' });
  } catch {
    fail(
      'cannot create .installing: if another command installs the packages, wait for its end; otherwise delete it',
    );
  }
  // Options win over the user's variables, which win over .npmrc. `npm run --silent` passes its log level on in such a variable,
  // which would hide the reason for a failure.
  const command = [npmScript, ...args, '--ignore-scripts', '--loglevel=error'];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit'] });
  // Otherwise npm can go on for a minute after a signal: https://github.com/npm/cli/issues/5976
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill('SIGKILL'));
  const [code] = await once(child, 'close');
  rmSync(LOCK);
  if (code !== 0)
    fail('the packages are not installed: was npm interrupted, or is the network down?');
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
