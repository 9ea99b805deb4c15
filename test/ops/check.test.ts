/** `npm run check`, with a fake npm. */
import { afterEach, expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runInProcess } from '../support/command.ts';

const CHECKS = ['lint', 'typecheck', 'types:check', 'openapi:check', 'openapi:lint', 'bundle'];

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Runs the command, of which the scripts `failing` fail. Returns also the scripts that npm ran. */
async function check(failing: string[]) {
  vi.stubEnv('npm_execpath', '/npm.js');
  const scripts: string[] = [];
  const spawnSync = (program: string, [npm, command, ...args]: string[]) => {
    expect([program, npm, command]).toEqual([process.execPath, '/npm.js', 'run']);
    const script = args.at(-1) ?? '';
    scripts.push(script);
    return { status: failing.includes(script) ? 3 : 0 };
  };
  const result = await runInProcess('check.ts', { 'node:child_process': { spawnSync } }, []);
  return { ...result, scripts };
}

test('check runs scripts of package.json, and says that all checks have passed', async () => {
  const { code, stdout, stderr, scripts } = await check([]);
  expect([code, stdout, stderr]).toEqual([0, 'All checks passed.\n', '']);
  expect(scripts).toEqual(CHECKS);
  expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(CHECKS));
});

test.each([
  ['the one check', ['types:check'], ['failed: types:check, run npm run types']],
  [
    'each check',
    CHECKS,
    [
      'failed: lint, run npm run format',
      'failed: typecheck, fix the type errors above',
      'failed: types:check, run npm run types',
      'failed: openapi:check, run npm run openapi',
      'failed: openapi:lint, fix the problems above in openapi/',
      'failed: bundle, see its error above',
    ],
  ],
])('check runs all, and ends with the fix of %s that failed', async (_, failing, errors) => {
  const { code, stdout, stderr, scripts } = await check(failing);
  expect([code, stdout, scripts]).toEqual([1, '', CHECKS]);
  expect(stderr.trimEnd().split('\n')).toEqual(errors);
});
