/** `npm run check`, with a fake npm. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './project.ts';

const CHECKS = ['lint', 'typecheck', 'types:check', 'openapi:check', 'openapi:lint', 'bundle'];

/** Records the script that it runs, and fails if that is one of FAILING. */
const NPM = `
  const script = process.argv.at(-1);
  require('node:fs').appendFileSync(process.env.CALLS, script + ' ');
  process.exit(process.env.FAILING.split(' ').includes(script) ? 3 : 0);`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Runs the command, of which the scripts `failing` fail. Returns also the scripts that npm ran. */
async function check(failing: string[]) {
  const folder = await temporaryFolder();
  const npm = join(folder, 'npm.cjs');
  const calls = join(folder, 'calls');
  await writeFile(npm, NPM);
  vi.stubEnv('npm_execpath', npm);
  vi.stubEnv('CALLS', calls);
  vi.stubEnv('FAILING', failing.join(' '));
  const result = await runInProcess('check.ts', {}, []);
  return { ...result, scripts: readFileSync(calls, 'utf8').trim().split(' ') };
}

test('check runs scripts of package.json, and says that all checks have passed', async () => {
  const { code, stdout, stderr, scripts } = await check([]);
  expect([code, stdout, stderr]).toEqual([0, 'All checks passed.\n', '']);
  expect(scripts).toEqual(CHECKS);
  expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(CHECKS));
});

test('check ends with the fix of the one check that failed', async () => {
  const { code, stdout, stderr } = await check(['types:check']);
  expect([code, stdout, stderr]).toEqual([1, '', 'failed: types:check, run npm run types\n']);
});

test('check goes on after a check that failed, and ends with the fix of each', async () => {
  const { code, stderr } = await check(CHECKS);
  expect(code).toBe(1);
  expect(stderr.trimEnd().split('\n')).toEqual([
    'failed: lint, run npm run format',
    'failed: typecheck, fix the type errors above',
    'failed: types:check, run npm run types',
    'failed: openapi:check, run npm run openapi',
    'failed: openapi:lint, fix the problems above in openapi/',
    'failed: bundle, see its error above',
  ]);
});
