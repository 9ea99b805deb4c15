/** `npm run setup` as a process, with a fake npm: what makes it install, failures and interrupts. */
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { freshClone, INSTALLED, LIST } from './fake-npm.ts';

const CI = 'ci --ignore-scripts --loglevel=error';
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
  ['a package is new', () => clone.write(PACKAGES, INSTALLED.replace('4.0.0', '3.0.0'))],
  ['a package is not installed', () => clone.write(PACKAGES, INSTALLED.replace('hono', 'other'))],
  ['there is no list of installed packages', () => clone.remove(PACKAGES)],
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

test('the link to Node.js that npm 10 removes is restored', async () => {
  clone.install();
  clone.remove('node_modules/.bin/node');
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual(['rebuild node-here --ignore-scripts --loglevel=error']);
});

test('after a failure, the errors of npm are shown, and the next command installs again', async () => {
  const { code, stderr } = await clone.setUp({ NPM_EXIT_CODE: '7' });
  const end =
    'error: the packages are not installed: was npm interrupted, or is the network down?\n';
  expect([code, stderr]).toEqual([1, `${BEGUN}npm error code EUSAGE\n${end}`]);
  expect((await clone.setUp()).code).toBe(0);
  expect(clone.calls()).toEqual([CI, CI]);
});

test('the set-up without npm says so, and can be repeated', async () => {
  const stderr = `${BEGUN}error: npm was not found: run npm run setup\n`;
  expect(await clone.setUp({ npm_execpath: '' })).toEqual({ code: 1, stdout: '', stderr });
  expect((await clone.setUp()).code).toBe(0);
});

// Windows has no signals: there, a process that gets one ends at once.
test.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'an installation that gets %s ends npm, and the next command repeats it',
  async (signal) => {
    const { process, exited } = await clone.hold();
    process.kill(signal);
    const { code, stderr } = await exited;
    expect([code, stderr]).toEqual([1, expect.stringContaining('was npm interrupted, or ')]);
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

test('a plain npm ci has the same settings', () => {
  const settings = readFileSync('.npmrc', 'utf8').match(/^[^#\n].*$/gm);
  for (const setting of ['ignore-scripts=true', 'include[]=dev', 'include[]=optional'])
    expect(settings).toContain(setting);
});
