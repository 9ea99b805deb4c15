/** What all commands have in common: --help, invalid arguments, and CLOUDFLARE_ENV. */
import { expect, test } from 'vitest';
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
