// `npm run setup`, first step of every command: installs the packages of package-lock.json unless they are on disk. Plain
// JavaScript for Node.js 20, because it runs before the project's Node.js is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SECRET = /^(CLOUDFLARE|CF)_.*(TOKEN|KEY)$|^SMOKE_API_KEY$/;

/** npm writes it after it has installed every package. */
const INSTALLED = 'node_modules/.package-lock.json';

/** Exists while one process installs. Has the ids of that process and of its npm, which can outlive it. */
const LOCK = '.wrangler/install.lock';

rejectOtherPackageManagers();
if (missingPackages().length > 0 || isLinkMissing()) {
  await takeLock();
  if (missingPackages().length > 0) await install();
  if (isLinkMissing()) await npm('rebuild', nodePackage());
}

// ---------------------------------------------------------------------------------------- state

/** The packages of package-lock.json that this platform needs and that are missing, incomplete or of another version. */
function missingPackages() {
  const locked = readPackages('package-lock.json');
  const installed = readPackages(INSTALLED);
  // The project's Node.js: one package for each platform.
  const nodes = Object.keys(locked['']?.optionalDependencies ?? {});
  const isNode = (path) => nodes.includes(path.replace('node_modules/', ''));
  const isNeeded = ([path, content]) =>
    path.includes('node_modules/') &&
    (!content.optional || (isNode(path) && isForThisPlatform(content)));
  const isInstalled = ([path, { version }]) =>
    Object.hasOwn(installed, path) && installed[path].version === version;
  const needed = Object.entries(locked).filter(isNeeded);
  const missing = needed.filter((entry) => !isInstalled(entry));
  const lost = Object.entries(installed).filter((entry) => !isOnDisk(entry));
  return [...missing, ...lost].map(([path]) => path);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch (error) {
    // npm may have been killed while it wrote the list of installed packages.
    if (file === INSTALLED) return {};
    throw error;
  }
}

function isForThisPlatform({ os, cpu }) {
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
}

/** Whether the package and its commands are on disk, as the list of installed packages says. */
function isOnDisk([path, { bin = {} }]) {
  if (!path.includes('node_modules/')) return true;
  return ['package.json', ...Object.values(bin)].every((file) => existsSync(join(path, file)));
}

/** Older versions of npm install the project's Node.js, but remove its link with those of the other platforms. */
function isLinkMissing() {
  return nodePackage() !== undefined && !existsSync('node_modules/.bin/node');
}

function nodePackage() {
  const [path] = Object.entries(readPackages(INSTALLED)).find(([, { bin }]) => bin?.node) ?? [];
  return path?.replace(/^.*\//, '');
}

// -------------------------------------------------------------------------------------- install

async function install() {
  const secret = Object.keys(process.env).find((name) => SECRET.test(name));
  // Other processes of this user can read the environment, also of the processes that started this one.
  if (secret) fail(`packages are missing, and ${secret} is set. Unset it, then run: npm ci`);
  // Interrupted, `npm ci` can leave this list of packages that it has removed.
  rmSync(INSTALLED, { force: true });
  process.stderr.write('Installing the packages of package-lock.json, which can take minutes ');
  await npm('ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund');
  const [missing] = missingPackages();
  if (missing) fail(`npm has not installed ${missing}. Check npm's settings: npm config list`);
}

/** Runs npm, prints a dot every second, and waits until npm has ended, also after a signal. */
async function npm(...args) {
  const command = [process.env.npm_execpath, ...args, '--loglevel=error', '--no-progress'];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 2] });
  writeFileSync(LOCK, `${process.pid} ${child.pid}`);
  let received;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      received = signal;
      child.kill(signal);
      // It may go on for a minute, then remove what it has installed. The next `npm ci` does that as well.
      setTimeout(() => child.kill('SIGKILL'), 2000).unref();
    });
  const dots = setInterval(() => process.stderr.write('.'), 1000);
  const [code] = await once(child, 'exit');
  clearInterval(dots);
  process.stderr.write('\n');
  if (received) fail('interrupted. The next command installs again.', signalCode(received));
  if (code !== 0) fail(`npm ${args[0]} failed. Fix its error, then run: npm ci`, code ?? 1);
}

/** The exit code of a process that a signal ends. */
function signalCode(signal) {
  return 128 + constants.signals[signal];
}

/** Waits until no other process installs in this folder. */
async function takeLock() {
  mkdirSync('.wrangler', { recursive: true });
  let last;
  let hasWaited = false;
  while (!createLock()) {
    const content = readLock();
    const isHeld = content.split(' ').some(isRunning);
    // Seen twice, because a process writes its id a moment after it creates the file.
    if (!isHeld && content === last) rmSync(LOCK, { force: true });
    if (isHeld && !hasWaited) {
      hasWaited = true;
      const advice = `If no other command runs in this folder, delete ${LOCK}.`;
      console.error(`Waiting for another command to install the packages. ${advice}`);
    }
    last = content;
    await sleep(200);
  }
  process.on('exit', () => rmSync(LOCK, { force: true }));
}

function createLock() {
  try {
    writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLock() {
  return existsSync(LOCK) ? readFileSync(LOCK, 'utf8') : '';
}

function isRunning(id) {
  try {
    // Signal 0 only tests whether the process exists. The id 0 would be this process's group.
    return Number(id) > 0 && process.kill(Number(id), 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

// --------------------------------------------------------------------------------------- errors

/** Another package manager ignores package-lock.json. It sets this variable, which npm keeps for its scripts. */
function rejectOtherPackageManagers() {
  const [name] = (process.env.npm_config_user_agent ?? 'npm').split('/');
  if (['pnpm', 'yarn', 'bun'].includes(name))
    fail(`this project is installed and run by npm, not ${name}. Run: npm start`);
}

function fail(message, exitCode = 1) {
  console.error(`error: ${message}`);
  process.exit(exitCode);
}
