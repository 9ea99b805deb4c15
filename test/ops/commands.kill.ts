/** Commands as real processes, in a copy of the project: see commands.test.ts. */
import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject } from '../support/project.ts';

const project = copyProject();

test('the local store needs no other file than wrangler.toml', async () => {
  const files = ['.env', '.wrangler/deploy/config.json', 'wrangler.json', 'wrangler.jsonc'].map(
    (name) => join(project.path(), name),
  );
  for (const file of files) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{}');
  }
  expect(await project.run('keys.ts', ['list'])).toMatchObject({ code: 0 });
  expect(await project.run('seed.ts', ['--pets', '1'])).toMatchObject({ code: 0 });
  const { stderr } = await project.run('keys.ts', ['list', '--env', 'staging']);
  expect(stderr).toMatch(/error: remove .*: wrangler prefers it to wrangler.toml/);
  for (const file of files) await rm(file);
});

test.skipIf(!existsSync('/dev/full'))(
  'a rotation whose new key cannot be printed fails, and leaves the old key as it is',
  async () => {
    const created = await project.run('keys.ts', ['create', '--label', 'Anna']);
    const [id = ''] = /key_\w+/.exec(created.stderr) ?? [];
    const command = [join(project.path(), 'ops/keys.ts'), 'rotate', id];
    const full = openSync('/dev/full', 'w');
    const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', full, 'ignore'] });
    expect(status).toBe(1);
    const { stdout } = await project.run('keys.ts', ['list']);
    expect(stdout).toMatch(new RegExp(`${id}\t.*\tnever\tactive\t.*\tAnna\n`));
  },
);

test('after its output is closed, list succeeds, and create fails because nobody gets the key', async () => {
  const exitCode = async (command: string[]) => {
    const { process, exited } = project.start('keys.ts', command);
    process.stdout.destroy();
    return (await exited).code;
  };
  expect(await exitCode(['list'])).toBe(0);
  expect(await exitCode(['create', '--label', 'Bob'])).toBe(1);
});
