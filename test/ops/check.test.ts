/** `npm run check`, with a fake npm that records its calls. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import packageJson from '../../package.json' with { type: 'json' };

const NPM = `
  const script = process.argv.at(-1);
  require('node:fs').appendFileSync(process.env.CALLS, script + '\\n');
  process.exit(process.env.FAILING.split(' ').includes(script) ? 3 : 0);`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  writeFileSync(join(folder, 'npm.cjs'), NPM);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs every check, of which some fail. */
function check(...failing: string[]) {
  const calls = join(folder, 'calls');
  rmSync(calls, { force: true });
  const npm_execpath = join(folder, 'npm.cjs');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(PROJECT_ROOT, 'ops/check.ts')],
    {
      ...{ encoding: 'utf8' },
      env: { ...process.env, npm_execpath, CALLS: calls, FAILING: failing.join(' ') },
    },
  );
  const scripts = readFileSync(calls, 'utf8').trim().split('\n');
  return { status, stdout, stderr, scripts };
}

test('runs scripts of package.json, and says that all have passed', () => {
  const { status, stdout, scripts } = check();
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'All checks passed.\n' });
  expect(packageJson.scripts).toMatchObject(
    Object.fromEntries(scripts.map((script) => [script, expect.any(String)])),
  );
  expect(scripts).toEqual(
    'lint typecheck types:check openapi:check openapi:lint bundle'.split(' '),
  );
});

test('runs the rest after a failure, and ends with each that failed and its fix', () => {
  const { status, stdout, stderr, scripts } = check('lint', 'openapi:check');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    'failed: lint, run npm run format\nfailed: openapi:check, run npm run openapi\n',
  );
  expect(scripts.at(-1)).toBe('bundle');
});
