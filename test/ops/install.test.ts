/** `npm run setup`, with a fake npm that records its calls. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import packageJson from '../../package.json' with { type: 'json' };

const HONO = { 'node_modules/hono': { version: '4.0.0', bin: { hono: 'bin/hono.js' } } };
const NODE = {
  'node_modules/node-here': {
    ...{ version: '26.0.0', optional: true, bin: { node: 'bin/node' } },
    ...{ os: process.platform, cpu: process.arch },
  },
};
const LOCKED = {
  '': { optionalDependencies: { 'node-here': '26.0.0', 'node-elsewhere': '26.0.0' } },
  ...HONO,
  ...NODE,
  'node_modules/node-elsewhere': { version: '26.0.0', optional: true, os: 'plan9', cpu: 'mips' },
  // Of another platform, too, and needed by a package.
  'node_modules/fsevents': { version: '2.0.0', optional: true, os: ['plan9'] },
};
const MARKER = 'node_modules/.package-lock.json';

/** Records a call, and installs the packages in `NPM_MS`. A signal does not shorten it. */
const NPM = `
  import { appendFileSync, cpSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  const say = (text) => appendFileSync('calls', text + '\\n');
  const { NPM_EXIT_CODE } = process.env;
  const ms = Number(process.env.NPM_MS ?? 0);
  console.log('added 1 package');
  let isInterrupted = false;
  process.on('SIGINT', () => (isInterrupted = true));
  say(process.argv.slice(2, 4).join(' '));
  await setTimeout(ms);
  if (isInterrupted) {
    say('interrupted');
    process.exit(1);
  }
  if (NPM_EXIT_CODE) process.exit(Number(NPM_EXIT_CODE));
  cpSync('registry', '.', { recursive: true });
  say('done');`;

let folder: string;
let children: ChildProcess[];
const path = (name: string) => join(folder, name);

async function write(name: string, content: string): Promise<void> {
  await mkdir(dirname(path(name)), { recursive: true });
  await writeFile(path(name), content);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  children = [];
  await write('package-lock.json', JSON.stringify({ packages: LOCKED }));
  await write('npm.mjs', NPM);
  await install('registry/');
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 5, retryDelay: 200 });
});

/** Writes the packages to disk as npm does. */
async function install(to = '', packages: object = { ...HONO, ...NODE }): Promise<void> {
  await write(`${to}${MARKER}`, JSON.stringify({ packages }));
  for (const file of ['hono/package.json', 'hono/bin/hono.js', 'node-here/package.json'])
    await write(`${to}node_modules/${file}`, '');
  for (const file of ['node-here/bin/node', '.bin/node'])
    await write(`${to}node_modules/${file}`, '');
}

function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'ops/install.mjs')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_execpath: path('npm.mjs'), ...env },
  });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const closed = new Promise((resolve) => child.on('close', resolve));
  return { child, exited, closed, output: () => ({ stdout, stderr }) };
}

async function setUp(env?: Record<string, string>) {
  const { exited, closed, output } = start(env);
  const code = await exited;
  await closed;
  return { code, ...output() };
}

const calls = async () => (existsSync(path('calls')) ? readFile(path('calls'), 'utf8') : '');
const npmRuns = () => expect.poll(calls, { interval: 20 }).not.toBe('');

test('does nothing when the packages of this platform are installed', async () => {
  await install();
  const env = { SMOKE_API_KEY: 'key', npm_config_user_agent: 'npm/11.0.0 node/v26.0.0' };
  expect(await setUp(env)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await calls()).toBe('');
});

test('installs the packages of a fresh clone, and prints dots as progress', async () => {
  const { code, stdout, stderr } = await setUp({ NPM_MS: '1500' });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/^Installing the packages of package-lock\.json.* \.+\n$/);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
});

test.each([
  ['hono', { ...NODE, 'node_modules/hono': { version: '3.0.0' } }],
  ["the project's Node.js", { ...HONO, 'node_modules/node-here': { version: '24.0.0' } }],
])('installs a new version of %s', async (_, packages) => {
  await install('', packages);
  expect((await setUp()).code).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
});

test.each(['node_modules/hono/package.json', 'node_modules/node-here/bin/node'])(
  'installs when %s is missing',
  async (file) => {
    await install();
    await rm(path(file));
    expect((await setUp()).code).toBe(0);
    expect(await calls()).toBe('ci --include=dev\ndone\n');
  },
);

test('installs when the list of installed packages is cut off', async () => {
  await install();
  await writeFile(path(MARKER), '{"packages":');
  expect((await setUp()).code).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
});

test('fails with the exit code of npm, and installs at the next command', async () => {
  await install();
  await rm(path('node_modules/hono'), { recursive: true });
  const { code, stderr } = await setUp({ NPM_EXIT_CODE: '7' });
  expect(code).toBe(7);
  expect(stderr).toContain('error: npm ci failed. Fix its error, then run: npm ci\n');
  // Even if npm has left the files and its list of them.
  expect(existsSync(path(MARKER))).toBe(false);
});

test('fails when npm leaves out a package that is needed', async () => {
  await rm(path('registry/node_modules/node-here'), { recursive: true });
  const { code, stderr } = await setUp();
  expect(code).toBe(1);
  expect(stderr).toContain('error: npm has not installed node_modules/node-here.');
});

test('restores the link to Node.js that npm 10 removes', async () => {
  await install();
  await rm(path('node_modules/.bin/node'));
  expect((await setUp({ SMOKE_API_KEY: 'key' })).code).toBe(0);
  expect(await calls()).toBe('rebuild node-here\ndone\n');
});

test.each(['CLOUDFLARE_API_TOKEN', 'CF_API_KEY', 'SMOKE_API_KEY'])(
  'installs nothing while %s is set',
  async (secret) => {
    const { code, stderr } = await setUp({ [secret]: 'secret' });
    const message = `packages are missing, and ${secret} is set. Unset it, then run: npm ci`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${message}\n` });
    expect(await calls()).toBe('');
  },
);

test.each(['pnpm', 'yarn'])('rejects %s in one line', async (name) => {
  await install();
  const { code, stderr } = await setUp({ npm_config_user_agent: `${name}/9.0.0 npm/? node/v26` });
  const message = `this project is installed and run by npm, not ${name}. Run: npm start`;
  expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${message}\n` });
});

test.each(['pnpm', 'yarn'] as const)('%s install shows "use npm"', (name) => {
  expect(packageJson.engines[name]).toBe('use npm');
});

// Windows has no signals: there, a process that gets one ends at once.
test.skipIf(process.platform === 'win32')('interrupted, waits for npm to end', async () => {
  const { child, exited } = start({ NPM_MS: '500' });
  await npmRuns();
  child.kill('SIGINT');
  expect(await exited).toBe(130);
  expect(await calls()).toBe('ci --include=dev\ninterrupted\n');
  expect((await setUp()).code).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ninterrupted\nci --include=dev\ndone\n');
});

test.skipIf(process.platform === 'win32')('interrupted, ends an npm that goes on', async () => {
  const { child, exited } = start({ NPM_MS: '600000' });
  await npmRuns();
  child.kill('SIGINT');
  expect(await exited).toBe(130);
  expect(await calls()).toBe('ci --include=dev\n');
});

test('waits while another command installs, and does not install again', async () => {
  const first = start({ NPM_MS: '500' });
  await npmRuns();
  const { code, stderr } = await setUp();
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Waiting for another command to install the packages\. .*\n$/);
  expect(await first.exited).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
});

test('waits for the npm of a command that was killed', async () => {
  const { child, exited } = start({ NPM_MS: '1500' });
  await npmRuns();
  child.kill('SIGKILL');
  await exited;
  expect((await setUp()).code).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
});

test('does not wait for processes that have ended', async () => {
  const ended = start({ npm_config_user_agent: 'yarn' });
  await ended.exited;
  await write('.wrangler/install.lock', `${ended.child.pid}`);
  expect((await setUp()).code).toBe(0);
  expect(await calls()).toBe('ci --include=dev\ndone\n');
  expect(existsSync(path('.wrangler/install.lock'))).toBe(false);
});
