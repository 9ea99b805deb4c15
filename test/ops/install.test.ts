/** `npm run setup`, with a fake npm that records its calls. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startProcess, temporaryFolder } from './project.ts';

/** Records its call, goes on when there is no file `hold`, whatever signal it gets, and installs the packages. */
const NPM = `
  import { appendFileSync, cpSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  appendFileSync('calls', process.argv.slice(2, 6).join(' ') + '\\n');
  process.on('SIGINT', () => {});
  console.log('added 1 package');
  while (existsSync('hold')) await setTimeout(20);
  if (process.env.NPM_EXIT_CODE) {
    console.error('npm error code EUSAGE');
    process.exit(process.env.NPM_EXIT_CODE);
  }
  cpSync('registry', 'node_modules', { recursive: true });`;

const CI = 'ci --ignore-scripts --include=dev --include=optional\n';

const NODE = { version: '26.0.0', optional: true, bin: { node: 'bin/node' } };
const HERE = { os: process.platform, cpu: process.arch };
const NEEDED = {
  'node_modules/hono': { version: '4.0.0' },
  'node_modules/node-here': { ...NODE, ...HERE },
};
const LOCKED = {
  ...NEEDED,
  client: {},
  'node_modules/node-elsewhere': { ...NODE, ...HERE, os: 'plan9' },
  'node_modules/node-mips': { ...NODE, ...HERE, cpu: 'mips' },
  'node_modules/fsevents': { optional: true, os: ['plan9'] },
};
const INSTALLED = JSON.stringify({ packages: NEEDED });
const FILES = ['hono/package.json', 'node-here/package.json', 'node-here/bin/node', '.bin/node'];

let folder: string;
const path = (name: string) => join(folder, name);
const calls = () => readFileSync(path('calls'), 'utf8');
const install = () => cpSync(path('registry'), path('node_modules'), { recursive: true });

function write(name: string, content = ''): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), content);
}

beforeEach(async () => {
  folder = await temporaryFolder();
  write('package-lock.json', JSON.stringify({ packages: LOCKED }));
  write('npm.mjs', NPM);
  write('calls');
  write('registry/.package-lock.json', INSTALLED);
  for (const file of FILES) write(`registry/${file}`);
});

const start = (env: Record<string, string> = {}) =>
  startProcess([join(PROJECT_ROOT, 'ops/install.mjs')], folder, {
    npm_execpath: path('npm.mjs'),
    ...env,
  });

const setUp = (env?: Record<string, string>) => start(env).exited;

/** Starts an installation that waits until there is no file `hold`. */
async function hold() {
  write('hold');
  const command = start();
  await expect.poll(calls, { interval: 20 }).not.toBe('');
  return command;
}

test('the set-up does nothing when the packages of this platform are installed', async () => {
  install();
  const env = { SMOKE_API_KEY: 'key', npm_config_user_agent: 'npm/11.0.0 node/v26.0.0' };
  expect(await setUp(env)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(calls()).toBe('');
});

test('the set-up of a fresh clone says that it works, and installs the packages', async () => {
  const { exited, output } = await hold();
  await expect.poll(() => output.stderr).toMatch(/^Installing .* …\n$/);
  rmSync(path('hold'));
  expect(await exited).toMatchObject({ code: 0, stdout: '' });
  expect(calls()).toBe(CI);
  // The next command has nothing to do.
  expect(await setUp()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(calls()).toBe(CI);
});

const LIST = '.package-lock.json';
test.each<[string, string, string?]>([
  ['a package is new', LIST, INSTALLED.replace('4.0.0', '3.0.0')],
  ['Node.js is new', LIST, INSTALLED.replace('26.0.0', '24.0.0')],
  ['a package is not installed', LIST, INSTALLED.replace('hono', 'other')],
  ['there is no list of installed packages', LIST],
  ['a package is not on disk', 'hono'],
])('the set-up installs the packages when %s', async (_, file, content) => {
  install();
  rmSync(path(`node_modules/${file}`), { recursive: true });
  if (content) write(`node_modules/${file}`, content);
  expect((await setUp()).code).toBe(0);
  expect(calls()).toBe(CI);
});

test('the link to Node.js that npm 10 removes is restored, also beside a secret', async () => {
  install();
  rmSync(path('node_modules/.bin/node'));
  expect((await setUp({ SMOKE_API_KEY: 'key' })).code).toBe(0);
  // Of no other package, and without scripts: what npm runs could read the secret.
  expect(calls()).toMatch(/^rebuild node-here --ignore-scripts /);
});

test('the set-up shows the errors of npm, and installs again at the next command', async () => {
  install();
  rmSync(path('node_modules/hono'), { recursive: true });
  const { code, stderr } = await setUp({ NPM_EXIT_CODE: '7' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: the packages cannot be installed .*: npm error code EUSAGE$/m);
  // Even if npm has left the packages and its list of them.
  install();
  expect((await setUp()).code).toBe(0);
  expect(calls()).toBe(CI.repeat(2));
});

const npm = process.env.npm_execpath ?? '';

// A test that is not started by npm, as in an editor, does not know where npm is.
test.skipIf(!npm)('the set-up fails in one line when npm cannot reach the registry', async () => {
  const dependencies = { hono: '4.0.0' };
  write('package.json', JSON.stringify({ name: 'test', version: '1.0.0', dependencies }));
  const packages = { '': { dependencies }, 'node_modules/hono': { version: '4.0.0' } };
  write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages }));
  const { code, stdout, stderr } = await setUp({
    npm_execpath: npm,
    npm_config_registry: 'http://localhost:1',
    npm_config_cache: path('cache'),
    npm_config_fetch_retries: '0',
  });
  const [, error, ...more] = stderr.trimEnd().split('\n');
  expect([code, stdout, more]).toEqual([1, '', []]);
  expect(error).toMatch(
    /^error: the packages cannot be installed \(is the network up\?\): request to http:\/\/localhost:1\/hono failed, reason: .*ECONNREFUSED/,
  );
});

test.each(['CLOUDFLARE_API_TOKEN', 'CF_API_KEY', 'SMOKE_API_KEY'])(
  'the set-up installs nothing while %s is set',
  async (name) => {
    const { code, stderr } = await setUp({ [name]: 'secret' });
    const message = `packages are missing, and ${name} is set. Unset it, then run: npm run setup`;
    expect([code, stderr]).toEqual([1, `error: ${message}\n`]);
    expect(calls()).toBe('');
  },
);

test.each(['pnpm', 'yarn'])('the set-up rejects %s, also when all is installed', async (name) => {
  install();
  const { code, stderr } = await setUp({ npm_config_user_agent: `${name}/9.0.0 npm/? node/v26` });
  const message = `this project is installed and run by npm, not ${name}. Run: npm start`;
  expect([code, stderr]).toEqual([1, `error: ${message}\n`]);
  expect(calls()).toBe('');
});

test('pnpm install and yarn install show "use npm"', () => {
  expect(packageJson.engines).toMatchObject({ pnpm: 'use npm', yarn: 'use npm' });
});

// Windows has no signals: there, a process that gets one ends at once.
test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'an installation that gets %s ends npm, and the next command repeats it',
  async (signal) => {
    const { process, exited } = await hold();
    process.kill(signal);
    const { code, stderr } = await exited;
    expect(code).toBe(1);
    const error = 'error: the installation was interrupted. The next command repeats it\n';
    expect(stderr.endsWith(error)).toBe(true);
    rmSync(path('hold'));
    // Even if the packages seem complete.
    install();
    expect((await setUp()).code).toBe(0);
    expect(calls()).toBe(CI.repeat(2));
  },
);

test.each(['runs', 'was killed'])(
  'the set-up is refused while npm of a command that %s installs',
  async (state) => {
    const first = await hold();
    if (state === 'was killed') first.process.kill('SIGKILL');
    const { code, stderr } = await setUp();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /\nerror: another command is installing the packages, in process \d+\. Wait for its end, or delete \.installing\n$/,
    );
    expect(calls()).toBe(CI);
    rmSync(path('hold'));
  },
);

test('an installation whose command and npm were killed is repeated', async () => {
  install();
  // No process has this id.
  write('.installing', '999999999');
  expect((await setUp()).code).toBe(0);
  expect(calls()).toBe(CI);
});
