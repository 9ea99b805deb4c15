/** Commands as real processes, in a copy of the project: see commands.test.ts. */
import { spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject } from './project.ts';

const project = copyProject();

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

test('a create whose output is closed fails, because nobody gets the key', async () => {
  const { process, exited } = project.start('keys.ts', ['create', '--label', 'Bob']);
  process.stdout.destroy();
  expect(await exited).toMatchObject({ code: 1 });
});
