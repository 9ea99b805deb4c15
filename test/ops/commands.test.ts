/** What all commands have in common: errors of one line, exit codes, and no secrets in them. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { oneLine } from '../../ops/command-line.ts';
import { copyProject, freePort } from './project.ts';

const project = copyProject();
const port = await freePort();
const other = createServer().listen(port, 'localhost');
afterAll(() => void other.close());

test('reset --help shows its usage', async () => {
  const { code, stdout, stderr } = await project.run('local/reset.ts', ['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: npm run reset -- /);
});

test.each([
  [2, 'local/start.ts --port 0', "argument '0' is invalid. It must be an integer from 1 to 65535."],
  [2, 'local/start.ts --port 1e3', "argument '1e3' is invalid."],
  [2, 'local/start.ts 8787', 'error: too many arguments'],
  [2, 'local/reset.ts --env staging', "error: unknown option '--env'"],
  [2, 'local/seed.ts', "error: required option '--pets <number>' not specified"],
  [2, 'local/seed.ts --pets 0', "argument '0' is invalid."],
  [2, 'keys.ts list', 'error: CLOUDFLARE_ENV is set (to "production"). Unset it', 'production'],
  [1, `local/start.ts --port ${port}`, 'is in use. Choose another: npm start -- --port <number>'],
  [1, 'keys.ts list --env staging', 'See "First set-up" in docs/operations.md. (wrangler: '],
  [1, 'openapi.ts --check', 'public/v1/openapi.json is out of date. Run: npm run openapi'],
])('it fails with the code %i and one line: %s', async (code, line, message, environment = '') => {
  const description = join(project.path(), 'public/v1/openapi.json');
  await rm(description, { force: true });
  const [script = '', ...args] = line.split(' ');
  const { stderr, ...result } = await project.run(script, args, {
    CLOUDFLARE_ENV: environment,
    CLOUDFLARE_API_BASE_URL: 'http://localhost:1',
    CLOUDFLARE_API_TOKEN: 'a-token',
  });
  expect(result).toEqual({ code, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trimEnd()).not.toContain('\n');
  expect(existsSync(description)).toBe(false);
});

test('an error does not show a token, also one that wrangler quotes on two lines', () => {
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'first\nsecond');
  const line = oneLine(new Error('"first\nsecond" is not a valid header'));
  vi.unstubAllEnvs();
  expect(line).toBe('"…" is not a valid header');
});
