/** Tests and checks have the same results for all developers, whatever their settings of git, worktrees and variables. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { createRepository } from '../support/copy.ts';
import { copyFiles, copyProject, startProcess, temporaryFolder } from '../support/project.ts';

const project = copyProject();

/** Runs a command of a package in the copy. It must succeed. */
async function run(script: string, args: string[], env?: Record<string, string>) {
  const command = [join('node_modules', script), ...args];
  const { code, stdout, stderr } = await startProcess(command, project.path(), env).exited;
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}
const runVitest = (args: string, env?: Record<string, string>) =>
  run('vitest/vitest.mjs', args.split(' '), env);

/** Settings with which a commit fails, and a new repository has no folder `info`. */
const SETTINGS = `[commit]
  gpgSign = true
[gpg]
  program = none
[init]
  templateDir = none
[core]
  hooksPath = none`;

test('tests in a hook of git change no repository but their own, and read no settings', async () => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'settings'), SETTINGS);
  createRepository(folder);
  const config = join(folder, '.git/config');
  const before = readFileSync(config, 'utf8');
  const env = { GIT_DIR: join(folder, '.git'), GIT_CONFIG_GLOBAL: join(folder, 'settings') };
  await runVitest('run --project test test/ops/rename.test.ts', env);
  expect(readFileSync(config, 'utf8')).toBe(before);
});

test('worktrees in folders whose names begin with a dot are left out by tests, linter and copies', async () => {
  const git = createRepository(project.path());
  git('worktree', 'add', '--quiet', '.worktrees/a');
  const files = await runVitest('list --filesOnly --project test');
  expect(files).toContain('test/config/surroundings.test.ts');
  expect(files).not.toContain('.worktrees');
  await run('@biomejs/biome/bin/biome', ['lint', 'vitest.config.ts']);
  const copy = await temporaryFolder();
  copyFiles(copy, project.path());
  expect(existsSync(join(copy, '.worktrees'))).toBe(false);
});

test('tests and types do not depend on the variables of a developer', async () => {
  // The own variable of a developer, and some of the service.
  const variables = 'MY_OWN=1\nBASE_URL=https://mine.test/v1\nWRITES_STOPPED=1\n';
  for (const name of ['.dev.vars', '.env']) writeFileSync(join(project.path(), name), variables);
  const [, ...types] = packageJson.scripts.types.split(' ');
  await run('wrangler/bin/wrangler.js', [...types, '--check']);
  await runVitest('run --project test test/config/environments.test.ts -t staging');
});
