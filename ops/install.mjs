// `npm run setup`, first step of every command: installs the packages of package-lock.json unless they are on disk. Plain
// JavaScript for Node.js 20, because it runs before the project's Node.js is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const SECRET = /^(CLOUDFLARE|CF)_.*(TOKEN|KEY)$|^SMOKE_API_KEY$/;

/** npm writes it after it has installed every package. */
const INSTALLED = 'node_modules/.package-lock.json';

/**
 * These override the user's settings of npm: no package runs a script, and Node.js, an optional dependency, is installed. The
 * pauses before the second and third attempt to reach the registry are 1 and 5 seconds, not 10 and 60.
 */
const FLAGS = [
  '--ignore-scripts',
  '--include=dev',
  '--include=optional',
  '--no-audit',
  '--no-fund',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  '--loglevel=error',
  '--no-progress',
];

/** Exists while one process installs. Has the ids of that process and of its npm, which can outlive it. */
const LOCK = '.wrangler/install.lock';

rejectArguments();
rejectOtherPackageManagers();
if (missingPackage() || isLinkMissing()) {
  await takeLock();
  if (missingPackage()) await install();
  // By name, so that npm handles no other package: a secret may be set.
  if (isLinkMissing()) await npm('rebuild', installedNode());
}

// ---------------------------------------------------------------------------------------- state

/** The first package that is needed here, and missing, incomplete or of another version than in package-lock.json. */
function missingPackage() {
  const installed = readInstalled();
  const isMissing = ([path, locked]) => {
    if (!path.includes('node_modules/')) return false;
    if (!installed[path]) return !locked.optional || isNodeForThisPlatform(locked);
    return installed[path].version !== locked.version || !isOnDisk(path, locked);
  };
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages).find(isMissing)?.[0];
}

/** The packages that npm has installed, by path. */
function readInstalled() {
  try {
    return JSON.parse(readFileSync(INSTALLED, 'utf8')).packages;
  } catch {
    // There is none, or npm was killed while it wrote the file.
    return {};
  }
}

/** Whether it is the project's Node.js, which is one package for each platform. */
function isNodeForThisPlatform({ bin, os, cpu }) {
  return bin?.node && [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch);
}

/** Whether the package and its commands are on disk. */
function isOnDisk(path, { bin = {} }) {
  return ['package.json', ...Object.values(bin)].every((file) => existsSync(join(path, file)));
}

/** Older versions of npm install the project's Node.js, but remove its link with those of the other platforms. */
function isLinkMissing() {
  return installedNode() !== undefined && !existsSync('node_modules/.bin/node');
}

/** The name of the package that is the project's Node.js, if npm has installed it. */
function installedNode() {
  const [path] = Object.entries(readInstalled()).find(([, { bin }]) => bin?.node) ?? [];
  return path?.replace('node_modules/', '');
}

// -------------------------------------------------------------------------------------- install

async function install() {
  const secret = Object.keys(process.env).find((name) => SECRET.test(name));
  // Other processes of this user can read the environment, also of the processes that started this one.
  if (secret) fail(`packages are missing, and ${secret} is set. Unset it, then run: npm run setup`);
  // Interrupted, `npm ci` can leave this list of packages that it has removed.
  rmSync(INSTALLED, { force: true });
  process.stderr.write('Installing the packages of package-lock.json, which can take minutes ');
  await npm('ci');
  const missing = missingPackage();
  if (missing) fail(`npm has not installed ${missing}. Check npm's settings: npm config list`);
}

/** Runs npm, prints a dot every second, and waits until npm has ended. */
async function npm(...args) {
  const command = [process.env.npm_execpath, ...args, ...FLAGS];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors = text(child.stderr);
  writeFileSync(LOCK, `${process.pid} ${child.pid}`);
  let received;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      received = signal;
      // After SIGINT or SIGTERM, npm can go on for a minute. What it leaves, the next `npm ci` removes.
      child.kill('SIGKILL');
    });
  const dots = setInterval(() => process.stderr.write('.'), 1000);
  const [code] = await once(child, 'exit');
  clearInterval(dots);
  process.stderr.write('\n');
  // The exit code of a process that the signal ends.
  const stopCode = 128 + constants.signals[received];
  if (received) fail('interrupted. The next command installs again.', stopCode);
  if (code !== 0) failWith(await errors, `npm ${args[0]} failed`, code ?? 1);
}

/** Fails with the errors of npm, or in one line if it cannot reach the registry. */
function failWith(errors, problem, exitCode) {
  const [unreachable] = /request to \S+ failed, reason: .*/.exec(errors) ?? [];
  if (unreachable) {
    const fix = 'Check the network, and the address in: npm config get registry';
    fail(`the packages cannot be downloaded: ${unreachable}. ${fix}`, exitCode);
  }
  process.stderr.write(errors);
  fail(`${problem}. Fix its error, then run: npm run setup`, exitCode);
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

function rejectArguments() {
  if (process.argv.length > 2)
    fail('npm run setup takes no arguments. It installs the packages of package-lock.json', 2);
}

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
