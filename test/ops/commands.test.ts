/** What all commands have in common: errors of one line, exit codes, and no secrets in them. */
import * as childProcess from 'node:child_process';
import * as fs from 'node:fs';
import { readFile as readReal } from 'node:fs/promises';
import { createServer } from 'node:http';
import { devNull } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { safeMessage } from '../../ops/command/command-line.ts';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { importWith, runInProcess } from './command.ts';
import { freePort, startProcess } from './project.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test.each([
  ['reset.ts --env staging', "error: unknown option '--env'"],
  ['seed.ts', "error: required option '--pets <number>' not specified"],
  ['seed.ts --pets 0', "argument '0' is invalid."],
  ['seed.ts --pets 1000001', 'It must be an integer from 1 to 1000000.'],
  ['release.ts promote --hold 0', "error: unknown option '--hold'"],
  ['set-up.ts local', 'Allowed choices are staging, production.'],
  ['set-up.ts staging --domain https://api.animals.test', 'It must be a host name'],
])('%s is refused in one line, with the exit code 2', async (line, message) => {
  const [script = '', ...args] = line.split(' ');
  // If the arguments were accepted, the developer's own store must not change.
  const mocks = { '../../ops/local/store.ts': {}, wrangler: {} };
  const { code, stdout, stderr } = await runInProcess(script, mocks, args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .*\n$/);
  expect(stderr).toContain(message);
});

test('openapi --check names a file that is out of date, and does not write it', async () => {
  const writeFile = vi.fn();
  const readFile = async (path: string) => {
    const text = await readReal(path, 'utf8');
    return path.endsWith('public/openapi.json') ? text.replace('internal_error', '') : text;
  };
  const mocks = { 'node:fs/promises': { readFile, writeFile } };
  const stderr = 'error: public/openapi.json is out of date. Run: npm run openapi\n';
  expect(await runInProcess('openapi.ts', mocks, ['--check'])).toMatchObject({ code: 1, stderr });
  expect(writeFile).not.toHaveBeenCalled();
});

/** The error of a run of wrangler. `script` runs instead, if it is given. */
async function wranglerError(script?: string) {
  const spawn = (node: string, args: string[], options: { timeout: number }) => {
    expect(options.timeout).toBe(300_000);
    expect(args.join(' ')).toContain(`--config wrangler.toml --env-file ${devNull}`);
    if (script) return childProcess.spawn(node, ['--eval', script], options);
    return childProcess.spawn(node, args, { ...options, timeout: 1 });
  };
  const { runWranglerIn }: typeof import('../../ops/command/wrangler.ts') = await importWith(
    'command/wrangler.ts',
    { 'node:child_process': { spawn } },
  );
  // It does not end by itself.
  return runWranglerIn('production', ['dev', '--port', '0']).catch((error) => error);
}

test('a command fails when the time of wrangler is over', async () => {
  expect(await wranglerError()).toEqual(new Error('wrangler: it did not end within five minutes'));
});

test('a command says that it is not set up before it asks for an option', async () => {
  const stderr = 'error: staging is not set up. See docs/set-up.md\n';
  const mocks = { 'node:fs': { ...fs, readFileSync: () => 'account_id = "staging-account-id"' } };
  const result = await runInProcess('keys.ts', mocks, ['create', '--env', 'staging']);
  expect(result).toEqual({ code: 1, stdout: '', stderr });
});

test('an error has what wrangler printed, in one line', async () => {
  const fail = "console.error('A warning\\n\\u001b[33man error'); process.exit(1)";
  expect(await wranglerError(fail)).toEqual(new Error('wrangler: A warning an error'));
});

test('a command fails when somebody kills wrangler', async () => {
  const error = await wranglerError("process.kill(process.pid, 'SIGTERM')");
  expect(error).toEqual(new Error('wrangler: SIGTERM'));
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

const REQUEST = `import { request } from './ops/command/request.ts';
await request({ baseUrl: 'https://store.test', apiKey: '' }, 'GET /pets', 200);`;

test('requests go to the proxy that HTTPS_PROXY names', async () => {
  const port = await freePort();
  const proxy = createServer().listen(port, 'localhost');
  proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  const args = ['--input-type', 'module', '--eval', REQUEST];
  const env = { HTTPS_PROXY: `http://localhost:${port}` };
  const { stderr } = await startProcess(args, PROJECT_ROOT, env).exited;
  expect(stderr).toContain('Error: GET https://store.test/pets: Proxy response (502)');
  proxy.close();
});
