/** `npm run check`, with a fake npm. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './project.ts';

/** Runs every check, of which some fail. */
async function check(failing: string) {
  const npm = join(await temporaryFolder(), 'npm.cjs');
  await writeFile(npm, 'process.exit(process.env.FAILING.includes(process.argv.at(-1)) ? 3 : 0)');
  vi.stubEnv('npm_execpath', npm);
  vi.stubEnv('FAILING', failing);
  const result = await runInProcess('check.ts', {}, []);
  vi.unstubAllEnvs();
  return result;
}

test('says that all checks have passed', async () => {
  expect(await check('')).toEqual({ code: 0, stdout: 'All checks passed.\n', stderr: '' });
});

test('runs every check, and ends with each that failed and its fix', async () => {
  const { code, stderr } = await check(Object.keys(packageJson.scripts).join(' '));
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
