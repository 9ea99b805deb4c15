/** `npm run setup` as a process, with a fake npm: what makes it install, failures and interrupts. */
import { beforeEach, expect, test } from 'vitest';
import { freshClone, INSTALLED, LIST } from './fake-npm.ts';

// Without them, settings of a user would let packages run scripts, leave packages or their commands out, refuse Node.js 20, or look for
// new versions; and a folder above could be installed instead.
const OPTIONS =
  '--ignore-scripts --include=dev --include=optional --bin-links --engine-strict=false --min-release-age=0 --prefix=. --loglevel=error --cache=';
const CI = `ci ${OPTIONS}cache`;
const BEGUN = 'Installing the packages of package-lock.json, which can take minutes …\n';

let clone: Awaited<ReturnType<typeof freshClone>>;

beforeEach(async () => {
  clone = await freshClone();
});

test('the set-up of a fresh clone says that it works, and installs the packages, once', async () => {
  expect(await clone.setUp()).toEqual({ code: 0, stdout: '', stderr: BEGUN });
  expect(await clone.setUp()).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(clone.calls()).toEqual([CI]);
});

const PACKAGES = `node_modules/${LIST}`;

test.each([
  ['an optional one is new', () => clone.write(PACKAGES, INSTALLED.replace('1.0.0', '0.9.0'))],
  ['a package is not installed', () => clone.write(PACKAGES, INSTALLED.replace('hono', 'other'))],
  [
    'the list of installed packages is cut off',
    () => clone.write(PACKAGES, INSTALLED.slice(0, -1)),
  ],
  ['a package is not on disk', () => clone.remove('node_modules/hono')],
])('the set-up installs the packages when %s', async (_, change) => {
  clone.install();
  change();
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual([CI]);
});

/** As a Node.js that is older than 22.18. */
const OLD = [{}, '--no-strip-types'] as const;

test('with an older Node.js, the packaged one is installed, and linked also by npm 10', async () => {
  clone.install();
  expect(await clone.setUp(...OLD)).toEqual({ code: 0, stdout: '', stderr: BEGUN });
  expect(clone.calls()).toEqual([CI, `rebuild ${OPTIONS}cache`]);
});

test('with an older Node.js on a platform without a packaged one, the set-up asks for a newer one', async () => {
  clone.remove('registry/.bin');
  const { code, stderr } = await clone.setUp(...OLD);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/: install Node.js 22.18 or later\n$/)]);
});

test('after a failure, the errors of npm are shown, and the next command installs again', async () => {
  const { code, stderr } = await clone.setUp({ NPM_EXIT_CODE: '7' });
  const end =
    'error: the packages are not installed: npm was interrupted, or names the cause above\n';
  expect([code, stderr]).toEqual([1, `${BEGUN}npm error code EUSAGE\n${end}`]);
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual([CI, CI]);
});

test('the set-up without npm says so', async () => {
  const stderr = `${BEGUN}error: npm was not found: run npm run setup\n`;
  expect(await clone.setUp({ npm_execpath: '' })).toEqual({ code: 1, stdout: '', stderr });
});

// Windows has no signals: there, a process that gets one ends at once.
test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'an installation that gets %s ends npm, and the next command repeats it',
  async (signal) => {
    const { process, exited } = await clone.hold();
    process.kill(signal);
    const { code, stderr } = await exited;
    expect([code, stderr]).toEqual([1, expect.stringContaining('npm was interrupted, or ')]);
    clone.remove('hold');
    expect((await clone.setUp()).code).toBe(0);
    expect(clone.calls()).toEqual([CI, CI]);
  },
);

test('the set-up is refused while another command installs, also when all seems installed', async () => {
  const first = await clone.hold();
  clone.install();
  const { code, stderr } = await clone.setUp();
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/cannot create .installing: .*; otherwise delete it\n/),
  ]);
  expect(clone.calls()).toEqual([CI]);
  clone.remove('hold');
  expect((await first.exited).code).toBe(0);
});

test('an npm that installs nothing in this folder is a failure', async () => {
  clone.remove(`registry/${LIST}`);
  const error = 'error: npm has not installed the packages of package-lock.json in this folder\n';
  expect(await clone.setUp()).toEqual({ code: 1, stdout: '', stderr: `${BEGUN}${error}` });
});

test('npm keeps its cache in this folder where the home folder cannot be written', async () => {
  const npm_config_cache = '/dev/null/.npm';
  expect(await clone.setUp({ npm_config_cache })).toMatchObject({ code: 0 });
  expect(clone.calls()).toEqual([`ci ${OPTIONS}.wrangler/npm`]);
});

test.each(['install.mjs', 'require-packages.mjs'])(
  '%s names the variable of a proxy without a scheme',
  async (script) => {
    const HTTPS_PROXY = 'proxy:3128';
    const stderr = 'error: HTTPS_PROXY must begin with http:// or https://\n';
    expect(await clone.run(script, { HTTPS_PROXY })).toEqual({ code: 1, stdout: '', stderr });
  },
);

test('a command begins when its packages are installed, and its Node.js is new enough', async () => {
  const stderr = 'error: packages are missing or outdated. Run: npm run setup\n';
  const failure = { code: 1, stdout: '', stderr };
  expect(await clone.run('require-packages.mjs')).toEqual(failure);
  clone.install();
  expect(await clone.run('require-packages.mjs', ...OLD)).toEqual(failure);
  expect(await clone.run('require-packages.mjs')).toEqual({ code: 0, stdout: '', stderr: '' });
});
