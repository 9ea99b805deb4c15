/** `npm run check`, with a fake npm. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './project.ts';

const SCRIPTS = 'lint typecheck types:check openapi:check openapi:lint bundle';

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

test('ends with each check that failed and its fix', async () => {
  const failed = 'failed: lint, run npm run format\nfailed: openapi:check, run npm run openapi\n';
  expect(await check('lint openapi:check')).toEqual({ code: 1, stdout: '', stderr: failed });
});

test('runs every check, and each is a script of package.json', async () => {
  const { stderr } = await check(SCRIPTS);
  const scripts = stderr.match(/(?<=failed: )[^,]+/g) ?? [];
  expect(scripts).toEqual(SCRIPTS.split(' '));
  expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(scripts));
});
