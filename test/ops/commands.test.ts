/** What all commands have in common: errors of one line, exit codes, and no secrets in them. */
import * as childProcess from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { readFile as readReal } from 'node:fs/promises';
import { createServer } from 'node:http';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { safeMessage } from '../../ops/command/command-line.ts';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { importWith, runInProcess } from './command.ts';

/** The shortest part of a key that is not shown. */
const KEY = `animal_local_${'0'.repeat(20)}`;
const NOT_SHOWN = 'It must be 1 to 100 characters that a terminal shows.';
const NO_DURATION = 'It must be 1 to 99999 with m, h or d, such as 15m, 24h or 90d.';
const NO_HOST = 'It must be a host name in lower case, such as api.example.com.';

test.each([
  ['reset.ts --env staging', "error: unknown option '--env'"],
  ['seed.ts', "error: required option '--pets <number>' not specified"],
  ['seed.ts --pets 0', "argument '0' is invalid."],
  ['seed.ts --pets 1e3', 'It must be an integer from 1 to 1000000.'],
  ['seed.ts --pets 1000001', 'It must be an integer from 1 to 1000000.'],
  ['set-up.ts local', 'Allowed choices are staging, production.'],
  ['set-up.ts staging --domain https://a.test', NO_HOST],
  ['set-up.ts staging --domain a.test/', NO_HOST],
  ['set-up.ts staging --domain A.test', NO_HOST],
  ['set-up.ts staging --domain test', NO_HOST],
  ['keys.ts create', "required option '--label <text>' not specified"],
  ['keys.ts create --label \u3000', NOT_SHOWN],
  ['keys.ts create --label a\u2029b', NOT_SHOWN],
  [`keys.ts create --label ${'x'.repeat(101)}`, NOT_SHOWN],
  [`keys.ts create --label for:${KEY}`, 'It must not contain an API key.'],
  ['keys.ts create --label x --expires 100000d', NO_DURATION],
  ['keys.ts create --label x --expires 0h', NO_DURATION],
  ['keys.ts create --label x --expires 1.5h', NO_DURATION],
  ['keys.ts create --label x --expires 15min', NO_DURATION],
  ['keys.ts list --env test', 'Allowed choices are local, staging, production.'],
  ['keys.ts rotate key_anna --overlap h', NO_DURATION],
  [`keys.ts ${KEY}`, "error: unknown command 'animal_…'\n"],
])('%s is refused in one line, with the exit code 2', async (line, message) => {
  const [script = '', ...args] = line.split(' ');
  // If the arguments were accepted, no store must change.
  const mocks = { '../../ops/local/store.ts': {}, '../../ops/command/wrangler.ts': {} };
  const { code, stdout, stderr } = await runInProcess(script, mocks, args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .*\n$/);
  expect(stderr).toContain(message);
});

const GENERATED = ['public/openapi.json', ...fs.globSync('public/docs/swagger-ui*')];

test.each(GENERATED)('openapi --check names an old %s, and does not write it', async (file) => {
  const writeFile = vi.fn();
  const readFile = async (path: string) => (path.endsWith(file) ? 'old' : readReal(path, 'utf8'));
  const mocks = { 'node:fs/promises': { readFile, writeFile } };
  const stderr = `error: ${file} is out of date. Run: npm run openapi\n`;
  expect(await runInProcess('openapi.ts', mocks, ['--check'])).toMatchObject({ code: 1, stderr });
  expect(writeFile).not.toHaveBeenCalled();
});

const LARGE = randomBytes(33_000);

test.each([
  ['differ', Buffer.from, 'error: the scripts of staging and production must be the same'],
  ['are too large', () => LARGE, 'error: the script is too large'],
])('check-bundle refuses scripts that %s', async (_, readFile, problem) => {
  const runWranglerIn = vi.fn();
  vi.spyOn(console, 'log').mockReturnValue();
  const printError = vi.spyOn(console, 'error').mockReturnValue();
  await importWith('check-bundle.ts', {
    '../../ops/command/wrangler.ts': { runWranglerIn },
    'node:fs/promises': { readFile },
  });
  expect(printError.mock.calls).toEqual([[problem]]);
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  expect(runWranglerIn.mock.calls).toEqual(
    ['staging', 'production'].map((env) => [
      env,
      ['deploy', '--dry-run', '--outdir', join(PROJECT_ROOT, 'dist', env)],
    ]),
  );
});

const NOISE = "console.error('A warning\\n\\u001b[33m'); console.log('an error'); process.exit(1)";

test.each([
  ['production', NOISE, /: A warning an error$/],
  ['local', NOISE, /: A warning an error \(.*: npm run reset empties it\)$/],
  ['staging', "process.kill(process.pid, 'SIGTERM')", /: SIGTERM$/],
  ['staging', 'setInterval(() => {}, 9999)', /: it did not end within five minutes$/],
] as const)('an error of wrangler, on %s, is in one line: %s', async (env, script, problem) => {
  for (const name of ['WRANGLER_LOG', 'CLOUDFLARE_CF_FETCH_ENABLED']) vi.stubEnv(name, 'x');
  const [place, name] = env === 'local' ? ['--local', ''] : ['--remote', env];
  const spawn = (node: string, args: string[], options: childProcess.SpawnOptions) => {
    const bin = join(PROJECT_ROOT, 'node_modules/wrangler/bin/wrangler.js');
    const config = ['--config', 'wrangler.toml', '--env-file', devNull];
    expect([node, args]).toEqual([process.execPath, [bin, 'd1', place, '--env', name, ...config]]);
    const own = { A: 'b', WRANGLER_LOG: 'log', CLOUDFLARE_CF_FETCH_ENABLED: 'false' };
    const variables = { ...process.env, ...own };
    expect(options).toMatchObject({ cwd: PROJECT_ROOT, timeout: 300_000, env: variables });
    const timeout = script.includes('setInterval') ? 100 : 99_999;
    return childProcess.spawn(node, ['--eval', script], { ...options, timeout });
  };
  const mocks = { 'node:child_process': { spawn } };
  const { runWranglerIn } = await importWith('command/wrangler.ts', mocks);
  const run = runWranglerIn(env, ['d1', place], { env: { A: 'b' } });
  await expect(run).rejects.toThrow(problem);
});

test('a command says that a store is not set up before it asks for an option', async () => {
  const stderr = 'error: staging is not set up. See docs/set-up.md\n';
  const readFileSync = () => 'id = "staging-api-keys-id"';
  const mocks = { 'node:fs': { ...fs, readFileSync } };
  const result = await runInProcess('keys.ts', mocks, ['create', '--env', 'staging']);
  expect(result).toEqual({ code: 1, stdout: '', stderr });
});

test('an error does not show a token, also one that wrangler quotes on two lines', () => {
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'first\nsecond');
  vi.stubEnv('CLOUDFLARE_API_KEY', 'third');
  vi.stubEnv('SMOKE_API_KEY', 'fourth');
  vi.stubEnv('CF_API_TOKEN', 'fifth');
  vi.stubEnv('CF_API_KEY', 'sixth');
  const others = 'third, fourth, fifth, sixth';
  const line = safeMessage(`"first\nsecond" is no valid header: "first second", ${others}\n`);
  expect(line).toBe('"…" is no valid header: "…", …, …, …, …');
});

test('--help shows the options of a command, with the exit code 0', async () => {
  const { code, stdout } = await runInProcess('keys.ts', {}, ['rotate', '--help']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('expires (default: 24h)\n')]);
});

const REQUEST = `import { request } from './ops/command/request.ts';
await request({ baseUrl: 'https://store.test', apiKey: '' }, 'GET /pets', 200);`;

test('requests go to the proxy that HTTPS_PROXY names', async () => {
  const proxy = createServer().listen(0, 'localhost');
  await once(proxy, 'listening');
  proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  vi.stubEnv('HTTPS_PROXY', `http://localhost:${Object(proxy.address()).port}`);
  const args = ['--input-type', 'module', '--eval', REQUEST];
  const failed = promisify(childProcess.execFile)(process.execPath, args, { cwd: PROJECT_ROOT });
  await expect(failed).rejects.toThrow('Error: GET https://store.test/pets: Proxy response (502)');
  proxy.close();
});
