// `npm run setup`: installs the packages of package-lock.json, for every command and for CI. Skips npm if they are
// installed, because npm contacts the registry even when nothing is missing. With --check it installs nothing and
// fails if packages are missing, for commands that hold secrets. Plain JavaScript, because it runs before the
// project's Node.js is installed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const STAMP = 'node_modules/.installed';
/** Deadline of the registry, in milliseconds. */
const PING_MS = 15_000;
/** Interval of progress messages when standard error is not a terminal, in milliseconds. */
const PROGRESS_MS = 10_000;

const wanted = createHash('sha256');
for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
  wanted.update(readFileSync(file));
const hash = wanted.digest('hex');

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== hash) {
  if (process.argv[2] === '--check') {
    console.error('error: the packages of package-lock.json are not installed. Run: npm run setup');
    process.exit(1);
  }
  await install();
}

async function install() {
  console.error('Installing the packages of package-lock.json (about a minute the first time) …');
  // npm itself would retry silently for ten minutes.
  const offline = !canReachRegistry();
  if (offline) console.error("The npm registry does not respond. Trying npm's cache only …");
  const source = offline ? '--offline' : '--prefer-offline';
  // --include=dev overrides NODE_ENV=production. --no-save leaves the lock file unchanged.
  const command = existsSync('node_modules') ? 'install' : 'ci';
  const status = await npm(command, '--ignore-scripts', '--include=dev', '--no-save', source);
  if (status !== 0 && offline) {
    console.error('error: packages are missing. Connect to the network and run the command again.');
  }
  if (status !== 0) process.exit(status);
  // npm before version 12 also runs the scripts of packages that `allowScripts` does not list.
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  // The install script of `node` runs npm, which reads these options from its environment.
  const rebuilt = await npm('rebuild', '--ignore-scripts=false', ...allowed, source);
  if (rebuilt !== 0) process.exit(rebuilt);
  writeFileSync(STAMP, hash);
}

/** Whether npm's configured registry responds, even with an error. */
function canReachRegistry() {
  const args = ['ping', '--fetch-retries=0', `--fetch-timeout=${PING_MS}`, '--loglevel=error'];
  const { status, stderr } = spawnSync(process.execPath, [npmPath(), ...args], {
    ...options(),
    encoding: 'utf8',
    timeout: 2 * PING_MS,
  });
  return status === 0 || /code E[0-9]{3}\b/.test(stderr);
}

function npm(...args) {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // Standard output is reserved for the command that follows.
  const stdio = ['ignore', 2, 2];
  const child = spawn(process.execPath, [npmPath(), ...args, ...quiet], { ...options(), stdio });
  const start = Date.now();
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - start) / 1000);
    if (!process.stderr.isTTY) console.error(`… still installing (npm ${args[0]}, ${seconds} s)`);
  }, PROGRESS_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      clearInterval(progress);
      resolve(status ?? 1);
    });
  });
}

function npmPath() {
  const path = process.env.npm_execpath;
  if (!path) throw new Error('must be run with npm: npm run setup');
  return path;
}

/** Hides secrets from the install scripts of packages. */
function options() {
  const secret = /^(CLOUDFLARE|CF|SMOKE)_/;
  return {
    env: Object.fromEntries(Object.entries(process.env).filter(([key]) => !secret.test(key))),
  };
}
