/** What all commands have in common: --help, invalid arguments, CLOUDFLARE_ENV, and how they call wrangler. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { oneLine } from '../../ops/command-line.ts';
import { copyProject } from './project.ts';

const project = copyProject();

const COMMANDS = {
  'local/start.ts': 'npm start',
  'local/reset.ts': 'npm run reset',
  'local/seed.ts': 'npm run seed',
  'keys.ts': 'npm run keys',
  'release.ts': 'npm run release',
  'openapi.ts': 'npm run openapi',
  'check-bundle.ts': 'npm run bundle',
};

test.each(Object.entries(COMMANDS))('%s --help shows its usage', async (script, command) => {
  const { code, stdout, stderr } = await project.run(script, ['--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.startsWith(`Usage: ${command} -- `)).toBe(true);
});

test.each([
  ['local/start.ts', ['--port', '0'], "argument '0' is invalid. It must be an integer from 1 to"],
  ['local/start.ts', ['--port', '1e3'], "argument '1e3' is invalid."],
  ['local/start.ts', ['8787'], 'error: too many arguments'],
  ['local/reset.ts', ['--env', 'staging'], "error: unknown option '--env'"],
  ['local/seed.ts', [], "error: required option '--pets <number>' not specified"],
  ['local/seed.ts', ['--pets', '0'], "argument '0' is invalid."],
])('%s %j is refused in one line', async (script, args, message) => {
  const { code, stdout, stderr } = await project.run(script, args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

const KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

test.each([[[KEY]], [['show', KEY]]])('keys %j does not print the key again', async (args) => {
  const { code, stdout, stderr } = await project.run('keys.ts', args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('animal_…');
  expect(stderr).not.toContain('ThisKey');
});

test('an error does not show a token, also one that wrangler quotes on two lines', () => {
  vi.stubEnv('CLOUDFLARE_API_TOKEN', 'first\nsecond');
  expect(oneLine(new Error('"first\nsecond" is not a valid header'))).toBe(
    '"…" is not a valid header',
  );
  vi.unstubAllEnvs();
});

test.each(['local/start.ts', 'keys.ts', 'release.ts'])(
  '%s does nothing while CLOUDFLARE_ENV is set',
  async (script) => {
    expect(await project.run(script, ['list'], { CLOUDFLARE_ENV: 'production' })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: CLOUDFLARE_ENV is set \(to "production"\)\. Unset it/),
    });
  },
);

test('an environment with placeholders is not set up', async () => {
  const { code, stderr } = await project.run('keys.ts', ['list', '--env', 'staging'], {
    CLOUDFLARE_API_BASE_URL: 'http://localhost:1',
    CLOUDFLARE_API_TOKEN: 'a-token',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^error: staging is not set up\. See "First set-up" in docs\/operations\.md\. \(wrangler: .*\)\n$/,
  );
});

test('a new key is in no argument, log or file', async () => {
  // Every Node.js process of the command records its arguments, and wrangler writes its log.
  const preload = join(project.path(), 'record-arguments.mjs');
  const record = `import { appendFileSync } from 'node:fs';
    appendFileSync(new URL('arguments.txt', import.meta.url), process.argv.join(' '));`;
  await writeFile(preload, record);
  const { code, stdout } = await project.run('keys.ts', ['create', '--label', 'Anna'], {
    WRANGLER_LOG_PATH: join(project.path(), 'logs'),
    NODE_OPTIONS: `--import=${pathToFileURL(preload)}`,
  });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^animal_local_\w{36}\n$/)]);
  const files = await readdir(project.path(), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile() && !file.parentPath.includes('node_modules'))
      .map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  expect(texts.some((text) => text.includes('record.json'))).toBe(true);
  expect(texts.some((text) => text.includes(stdout.trimEnd()))).toBe(false);
});
