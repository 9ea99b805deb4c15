/** `npm run setup` as a process, with a fake npm: what makes it install, what it refuses, and interrupts. */
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { freshClone, INSTALLED, LIST } from './fake-npm.ts';

let clone: Awaited<ReturnType<typeof freshClone>>;

beforeEach(async () => {
  clone = await freshClone();
});

test.each<[string, string, string?]>([
  ['a package is new', LIST, INSTALLED.replace('4.0.0', '3.0.0')],
  ['Node.js is new', LIST, INSTALLED.replace('26.0.0', '24.0.0')],
  ['a package is not installed', LIST, INSTALLED.replace('hono', 'other')],
  ['there is no list of installed packages', LIST],
  ['a package is not on disk', 'hono'],
])('the set-up installs the packages when %s', async (_, file, content) => {
  clone.install();
  clone.remove(`node_modules/${file}`);
  if (content) clone.write(`node_modules/${file}`, content);
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual(['ci']);
});

test('the link to Node.js that npm 10 removes is restored, also beside a secret', async () => {
  clone.install();
  clone.remove('node_modules/.bin/node');
  expect((await clone.setUp({ SMOKE_API_KEY: 'key' })).code).toBe(0);
  // Of no other package, and without scripts: what npm runs could read the secret.
  const calls = readFileSync(clone.path('calls'), 'utf8');
  expect(calls).toMatch(/^rebuild node-here --ignore-scripts /);
});

test('the set-up shows the errors of npm, and installs again at the next command', async () => {
  const { code, stderr } = await clone.setUp({ NPM_EXIT_CODE: '7' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: the packages cannot be installed .*: npm error code EUSAGE$/m);
  // Even if npm has left the packages and its list of them.
  clone.install();
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual(['ci', 'ci']);
});

const npm = process.env.npm_execpath ?? '';

// A test that is not started by npm, as in an editor, does not know where npm is.
test.skipIf(!npm)('the set-up fails in one line when npm cannot reach the registry', async () => {
  const dependencies = { hono: '4.0.0' };
  clone.write('package.json', JSON.stringify({ name: 'test', version: '1.0.0', dependencies }));
  const packages = { '': { dependencies }, 'node_modules/hono': { version: '4.0.0' } };
  clone.write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages }));
  const { code, stdout, stderr } = await clone.setUp({
    npm_execpath: npm,
    npm_config_registry: 'http://localhost:1',
    npm_config_cache: clone.path('cache'),
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
    const message = `packages are missing, and ${name} is set. Unset it, then run: npm run setup`;
    const stderr = `error: ${message}\n`;
    expect(await clone.setUp({ [name]: 'secret' })).toEqual({ code: 1, stdout: '', stderr });
    expect(clone.calls()).toEqual([]);
  },
);

test.each(['pnpm', 'yarn', 'bun'])(
  'the set-up rejects %s, also when all is installed',
  async (name) => {
    clone.install();
    const message = `this project is installed and run by npm, not ${name}. Run: npm start`;
    const env = { npm_config_user_agent: `${name}/9.0.0 npm/? node/v26` };
    const stderr = `error: ${message}\n`;
    expect(await clone.setUp(env)).toEqual({ code: 1, stdout: '', stderr });
  },
);

// Windows has no signals: there, a process that gets one ends at once.
test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'an installation that gets %s ends npm, and the next command repeats it',
  async (signal) => {
    const { process, exited } = await clone.hold();
    process.kill(signal);
    const { code, stderr } = await exited;
    const error = 'error: the installation was interrupted. The next command repeats it\n';
    expect([code, stderr]).toEqual([1, expect.stringMatching(`\n${error}$`)]);
    clone.remove('hold');
    // Even if the packages seem complete.
    clone.install();
    expect((await clone.setUp()).code).toBe(0);
    expect(clone.calls()).toEqual(['ci', 'ci']);
  },
);

test.each(['runs', 'was killed'])(
  'the set-up is refused while npm of a command that %s installs',
  async (state) => {
    const first = await clone.hold();
    if (state === 'was killed') first.process.kill('SIGKILL');
    const { code, stderr } = await clone.setUp();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /\nerror: another command is installing the packages, in process \d+\. Wait for its end, or delete \.installing\n$/,
    );
    expect(clone.calls()).toEqual(['ci']);
    clone.remove('hold');
  },
);

test('an installation whose command and npm were killed is repeated', async () => {
  clone.install();
  // No process has this id.
  clone.write('.installing', '999999999');
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual(['ci']);
});
