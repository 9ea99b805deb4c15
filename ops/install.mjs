// `npm run setup`: runs `npm ci` if packages of package-lock.json are not installed, for every command. Plain
// JavaScript, because it runs before the project's Node.js is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const SECRET = /^(CLOUDFLARE|CF)_.*(TOKEN|KEY)$|^SMOKE_API_KEY$/;

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {});
const readInstalled = () => read('node_modules/.package-lock.json');

const installed = readInstalled();
const isMissing = ([path, { version, optional }]) =>
  path.includes('node_modules/') && !optional && installed[path]?.version !== version;
if (Object.entries(read('package-lock.json')).some(isMissing)) {
  const secret = Object.keys(process.env).find((name) => SECRET.test(name));
  // Other processes of this user can read the environment, also of the processes that started this one.
  if (secret) {
    console.error(`error: packages are missing, and ${secret} is set. Unset it, then run: npm ci`);
    process.exit(1);
  }
  console.error('Installing the packages of package-lock.json …');
  npm('ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund');
}

// Older versions of npm install the project's Node.js, but remove its link with those of the other platforms.
const [path] = Object.entries(readInstalled()).find(([, { bin }]) => bin?.node) ?? [];
if (path && !existsSync('node_modules/.bin/node')) npm('rebuild', path.replace(/^.*\//, ''));

function npm(...args) {
  const command = [process.env.npm_execpath, ...args, '--loglevel=error'];
  // Standard output is reserved for the command that follows.
  const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
