// The one way in which packages are installed, for every command and for CI: `npm run setup`. It installs what
// package-lock.json says, unless that was done: npm by itself asks the registry even when nothing is missing, and
// waits for minutes where there is no network. With --check nothing is installed: a command that holds secrets
// fails instead. Plain JavaScript: it runs before the project's Node.js is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const STAMP = 'node_modules/.installed';

const wanted = createHash('sha256');
for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
  wanted.update(readFileSync(file));
const digest = wanted.digest('hex');

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) {
  if (process.argv[2] === '--check') {
    console.error('error: the packages of package-lock.json are not installed: npm run setup');
    process.exit(1);
  }
  install();
}

function install() {
  console.error('Installing the packages of package-lock.json (the first time, about a minute) …');
  // --include=dev: also where NODE_ENV is "production". --no-save: the lock file is left as it is.
  const command = existsSync('node_modules') ? 'install' : 'ci';
  npm(command, '--ignore-scripts', '--include=dev', '--no-save');
  // Before npm 12, npm also runs the scripts of packages that `allowScripts` does not name.
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  npm('rebuild', '--ignore-scripts=false', ...allowed);
  writeFileSync(STAMP, digest);
}

function npm(...args) {
  const path = process.env.npm_execpath;
  if (!path) throw new Error('run it through npm: npm run setup');
  // --prefer-offline: npm takes from its cache what is there; so does the script of `node`, which runs npm.
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  // What packages run needs no secrets. Standard output belongs to the command that follows.
  const secret = /^(CLOUDFLARE|CF|SMOKE)_/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !secret.test(key)));
  const { status } = spawnSync(process.execPath, [path, ...args, ...options], {
    env,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}
