// `npm run setup`, first step of every command: installs package-lock.json, unless it is installed. Plain JavaScript for
// Node.js 20, because it runs before the project's Node.js is installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** npm writes it after it has installed every package. */
const INSTALLED = 'node_modules/.package-lock.json';
/**
 * Exists from the start of an installation to its success, so an interrupted one is repeated. Has the id of npm's process,
 * which goes on if the command is killed.
 */
const LOCK = '.installing';
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
];

// Another package manager ignores package-lock.json. It sets this variable, and keeps it set when its script calls npm.
const [otherManager] = /^(pnpm|yarn|bun)/.exec(process.env.npm_config_user_agent) ?? [];
if (otherManager)
  fail(`this project is installed and run by npm, not ${otherManager}. Run: npm start`);

if (!isInstalled()) await install();
const installed = readPackages(INSTALLED);
const node = Object.keys(installed).find((path) => installed[path].bin?.node);
// npm 10 installs the project's Node.js, but removes its link together with those of the packages for other platforms.
// `npm rebuild` makes it again, and handles this package alone: unlike an installation, it also runs beside a secret.
if (node && !existsSync('node_modules/.bin/node'))
  await npm('rebuild', node.replace('node_modules/', ''));

// ---------------------------------------------------------------------------------------- state

/** Whether npm has installed the locked version of every package that is needed here. */
function isInstalled() {
  if (existsSync(LOCK) || !existsSync(INSTALLED)) return false;
  const installed = readPackages(INSTALLED);
  return Object.entries(readPackages('package-lock.json')).every(([path, locked]) => {
    // The project and its workspaces.
    if (!path.includes('node_modules/')) return true;
    // Only an optional package may be missing, such as one for another platform.
    if (!installed[path]) return locked.optional;
    return installed[path].version === locked.version && existsSync(path);
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

// -------------------------------------------------------------------------------------- install

async function install() {
  // To unset it only for npm would not help: a process can read the environment of the processes that started it.
  const isSecret = (name) => /^(CLOUDFLARE|CF)_.*(TOKEN|KEY)$|^SMOKE_API_KEY$/.test(name);
  const secret = Object.keys(process.env).find(isSecret);
  if (secret) fail(`packages are missing, and ${secret} is set. Unset it, then run: npm run setup`);
  console.error('Installing the packages of package-lock.json, which can take minutes …');
  await npm('ci');
}

/** Runs npm, unless another command in this folder does. */
async function npm(...args) {
  takeLock();
  const command = [process.env.npm_execpath, ...args, ...FLAGS];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  writeFileSync(LOCK, `${child.pid}`);
  // By itself, npm can go on for a minute after a signal. What it leaves, the next `npm ci` removes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill('SIGKILL'));
  const errors = text(child.stderr);
  const [code] = await once(child, 'close');
  if (code === null) fail('the installation was interrupted. The next command repeats it');
  if (code !== 0) failWith(await errors);
  rmSync(LOCK);
}

function takeLock() {
  try {
    writeFileSync(LOCK, `${process.pid}`, { flag: 'wx' });
  } catch {
    const id = readFileSync(LOCK, 'utf8');
    if (isRunning(id))
      fail(
        `another command is installing the packages, in process ${id}. Wait for its end, or delete ${LOCK}`,
      );
  }
}

function isRunning(id) {
  try {
    // Signal 0 only tests whether the process exists.
    return process.kill(Number(id), 0);
  } catch {
    return false;
  }
}

/** Fails with the errors of npm, or with the one line of them that shows that it cannot reach the registry. */
function failWith(errors) {
  // The second is what npm 10 can print instead of a reason.
  const noNetwork = /request to .* failed, reason: .*|Exit handler never called/;
  const [problem] = noNetwork.exec(errors) ?? [errors];
  fail(`the packages cannot be installed (is the network up?): ${problem}`);
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}
