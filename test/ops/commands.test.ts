/** What all commands have in common: usage, errors of one line, exit codes, and no secrets in them. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { confirm, integerFrom, onStop, safeMessage } from '../../ops/command-line.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { fakeRelease } from './fake-release.ts';
import { importWith, runInProcess } from './in-process.ts';
import { readPlaceholders } from './placeholders.ts';
import { copyProject, freePort, startProcess } from './project.ts';

const project = copyProject();

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Runs a command as a process that must fail with one line on standard error. Returns that line. */
async function errorOf(exitCode: number, line: string, env?: Record<string, string>) {
  const [script = '', ...args] = line.split(' ');
  const { code, stdout, stderr } = await project.run(script, args, env);
  expect([code, stdout]).toEqual([exitCode, '']);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr;
}

test.each([
  ['npm start', 'local/start.ts'],
  ['npm run reset', 'local/reset.ts'],
  ['npm run seed', 'local/seed.ts'],
  ['npm run keys', 'keys.ts'],
  ['npm run openapi', 'openapi.ts'],
  ['npm run check', 'check.ts'],
  ['npm run bundle', 'check-bundle.ts'],
  ['npm run rename', 'rename.ts'],
  ['npm run client:types', '../client/generate.ts'],
  ['npm run provision', 'provision.ts'],
])('%s -- --help shows its usage', async (command, script) => {
  const { code, stdout, stderr } = await runInProcess(script, {}, ['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`^Usage: ${command} -- `));
});

test('--help says which options are required', async () => {
  const { stdout } = await runInProcess('local/seed.ts', {}, ['--help']);
  expect(stdout).toContain('--pets <number>  number of animals (required)\n');
});

test('npm run release -- --help shows its usage', async () => {
  const { code, stdout, stderr } = await fakeRelease().release(['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: npm run release -- /);
});

test.each([
  ['local/start.ts --port 0', "argument '0' is invalid. It must be an integer from 1 to 65535."],
  ['local/start.ts 8787', 'error: too many arguments'],
  ['local/reset.ts --env staging', "error: unknown option '--env'"],
  ['local/seed.ts', "error: required option '--pets <number>' not specified"],
  ['local/seed.ts --pets 0', "argument '0' is invalid."],
  ['../client/generate.ts --out x', "error: unknown option '--out'"],
])('%s is refused in one line, with the exit code 2', async (line, message) => {
  const [script = '', ...args] = line.split(' ');
  // If the arguments were accepted, the developer's own store must not change.
  const mocks = { '../../ops/local/store.ts': {}, wrangler: {} };
  const { code, stdout, stderr } = await runInProcess(script, mocks, args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^error: .*\n$/);
  expect(stderr).toContain(message);
});

test('npm test refuses an unknown option of vitest in one line', async () => {
  expect(await errorOf(2, 'test.ts test --fast')).toBe('error: Unknown option `--fast`\n');
});

test('npm run test:browser without Chromium names the path and the variable', async () => {
  const CHROMIUM = join(project.path(), 'chromium');
  const command = [join(PROJECT_ROOT, 'ops/test.ts'), 'browser'];
  const { code, stdout, stderr } = await startProcess(command, PROJECT_ROOT, { CHROMIUM }).exited;
  const fix = 'Set CHROMIUM to the path of its program';
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`error: there is no Chromium at ${CHROMIUM}. ${fix}\n`);
});

test('a command does nothing while CLOUDFLARE_ENV is set', async () => {
  const error = await errorOf(2, 'keys.ts list', { CLOUDFLARE_ENV: 'production' });
  expect(error).toContain('error: CLOUDFLARE_ENV is set (to "production"). Unset it');
});

test('npm start on a port that is in use names the option for another', async () => {
  const port = await freePort();
  const other = createServer().listen(port, 'localhost');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const error = await errorOf(1, `local/start.ts --port ${port}`);
  expect(error).toContain('is in use. Choose another: npm start -- --port <number>');
});

/** Replaces wrangler.toml of the copy until the test ends. */
async function writeConfig(text: string): Promise<void> {
  const config = join(project.path(), 'wrangler.toml');
  const original = await readFile(config, 'utf8');
  onTestFinished(() => writeFile(config, original));
  await writeFile(config, text);
}

test('a command on an environment that is not set up names the page to read', async () => {
  await writeConfig(readPlaceholders());
  const error = await errorOf(1, 'keys.ts list --env staging', {
    CLOUDFLARE_API_BASE_URL: 'http://localhost:1',
    CLOUDFLARE_API_TOKEN: 'a-token',
  });
  expect(error).toContain('See "First set-up" in docs/operations.md. (wrangler: ');
});

test('openapi writes what is out of date or missing, and --check only names it', async () => {
  const description = join(project.path(), 'public/v1/openapi.json');
  await writeConfig(readPlaceholders().replaceAll('animal-store.example', 'animals.test'));
  const before = await readFile(description, 'utf8');
  // The types of the client are tested in types.test.ts.
  const mocks = {
    '../../ops/wrangler.ts': { PROJECT_ROOT: project.path() },
    '../../client/generate.ts': { generateTypes() {} },
  };
  const { code, stderr } = await runInProcess('openapi.ts', mocks, ['--check']);
  const error = 'error: public/v1/openapi.json is out of date. Run: npm run openapi\n';
  expect([code, stderr]).toEqual([1, error]);
  expect(await readFile(description, 'utf8')).toBe(before);
  const copied = join(project.path(), 'public/docs/swagger-ui.css');
  await rm(copied);
  expect(await runInProcess('openapi.ts', mocks, [])).toMatchObject({ code: 0, stderr: '' });
  expect(existsSync(copied)).toBe(true);
  const { servers } = JSON.parse(await readFile(description, 'utf8'));
  expect(servers).toMatchObject([
    { url: 'https://api.animals.test/v1' },
    { url: 'https://staging.api.animals.test/v1' },
    { url: 'http://localhost:8787/v1' },
  ]);
});

test('openapi names a deleted file of src in one line', async () => {
  await rm(join(project.path(), 'src/pets'), { recursive: true });
  onTestFinished(() => cp('src/pets', join(project.path(), 'src/pets'), { recursive: true }));
  const error = await errorOf(1, 'openapi.ts');
  expect(error).toMatch(/^error: Cannot find module '.*pets/);
});

test.each([
  ['0', 0],
  ['007', 7],
  ['9', 9],
])('an option that is an integer from 0 to 9 accepts %s', (text, value) => {
  expect(integerFrom(0, 9)(text)).toBe(value);
});

test.each(['-1', '10', '', '1.5', '1e0'])(
  'an option that is an integer from 0 to 9 refuses %j',
  (text) => {
    expect(() => integerFrom(0, 9)(text)).toThrow('It must be an integer from 0 to 9.');
  },
);

const SET_UP = 'staging is not set up. See "First set-up" in docs/operations.md.';

test.each([
  ['local', 'wrangler: SIGKILL (If the local store is damaged: npm run reset)'],
  ['staging', `${SET_UP} (wrangler: SIGKILL)`],
  ['production', 'wrangler: SIGKILL'],
] as const)('a command fails when wrangler is killed while it works on %s', async (env, error) => {
  const config = 'account_id = "staging-account-id"';
  const mocks = { 'node:fs': { readFileSync: () => config } };
  const { runWranglerIn }: typeof import('../../ops/wrangler.ts') = await importWith(
    'wrangler.ts',
    mocks,
  );
  // It does not end by itself.
  const command = ['dev', '--port', '0'];
  await expect(runWranglerIn(env, command, { timeout: 1 })).rejects.toThrow(new Error(error));
});

test('an error does not show a token, also one that wrangler quotes on two lines', () => {
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'first\nsecond');
  vi.stubEnv('CLOUDFLARE_API_KEY', 'third');
  vi.stubEnv('SMOKE_API_KEY', 'fourth');
  const line = safeMessage('"first\nsecond" is no valid header: "first second", third, fourth\n');
  expect(line).toBe('"…" is no valid header: "…", …, …');
});

test('a command stops on a signal, and when the process that started it ends', () => {
  vi.useFakeTimers();
  const signals = vi.spyOn(process, 'on').mockReturnThis();
  const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(7);
  const stop = vi.fn();
  onStop(stop);
  expect(signals.mock.calls).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => [name, stop]));
  vi.advanceTimersByTime(1_000);
  expect(stop).not.toHaveBeenCalled();
  parent.mockReturnValue(1);
  vi.advanceTimersByTime(500);
  expect(stop).toHaveBeenCalledOnce();
});

test('an interrupt at a question is a no', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never);
  vi.spyOn(console, 'error').mockReturnValue();
  const controller = new AbortController();
  const answer = confirm('do it', 'production', false, controller.signal);
  controller.abort();
  await expect(answer).rejects.toThrow('cancelled');
});
