// The one way in which packages are installed, for every command and for CI: `npm run setup`. It installs what
// package-lock.json says, unless that was done: npm by itself asks the registry even when nothing is missing. With
// --check nothing is installed: a command that holds secrets fails instead. Plain JavaScript: it runs before the
// project's Node.js is there.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const STAMP = 'node_modules/.installed';
/** How long the registry may take to answer, in milliseconds. */
const PING_MS = 15_000;
/** How often a log without a terminal, which shows no progress, gets a line, in milliseconds. */
const PROGRESS_MS = 10_000;

const wanted = createHash('sha256');
for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
  wanted.update(readFileSync(file));
const digest = wanted.digest('hex');

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) {
  if (process.argv[2] === '--check') {
    console.error('error: the packages of package-lock.json are not installed: npm run setup');
    process.exit(1);
  }
  await install();
}

async function install() {
  console.error('Installing the packages of package-lock.json (the first time, about a minute) …');
  // npm itself would try for ten minutes, in silence.
  const offline = !canReachRegistry();
  if (offline) console.error("The npm registry does not answer: trying with npm's cache alone …");
  const source = offline ? '--offline' : '--prefer-offline';
  // --include=dev: also where NODE_ENV is "production". --no-save: the lock file is left as it is.
  const command = existsSync('node_modules') ? 'install' : 'ci';
  const status = await npm(command, '--ignore-scripts', '--include=dev', '--no-save', source);
  if (status !== 0 && offline) {
    console.error('error: packages are missing: connect to the network, and run this again');
  }
  if (status !== 0) process.exit(status);
  // Before npm 12, npm also runs the scripts of packages that `allowScripts` does not name.
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  // The script of `node` runs npm, which takes the same options from its environment.
  const rebuilt = await npm('rebuild', '--ignore-scripts=false', ...allowed, source);
  if (rebuilt !== 0) process.exit(rebuilt);
  writeFileSync(STAMP, digest);
}

/** Whether the registry that npm is configured for answers, whatever it answers. */
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
  // Standard output belongs to the command that follows.
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
  if (!path) throw new Error('run it through npm: npm run setup');
  return path;
}

/** What packages run needs no secrets. */
function options() {
  const secret = /^(CLOUDFLARE|CF|SMOKE)_/;
  return {
    env: Object.fromEntries(Object.entries(process.env).filter(([key]) => !secret.test(key))),
  };
}
