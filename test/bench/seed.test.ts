import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { copyProject } from '../ops/project.ts';

const project = copyProject();
beforeAll(() =>
  cp(join(PROJECT_ROOT, 'bench'), join(project.path(), 'bench'), { recursive: true }),
);

const seed = (...args: string[]) => project.run('../bench/seed.ts', args);

test('adds animals beside those that are there', async () => {
  expect(await seed('--pets', '3')).toMatchObject({ code: 0, stderr: '' });
  const { code, stdout } = await seed('--pets', '25000');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^25000 animals were added; the last id is 25003\. The database has \d+ MiB\.$/m,
  );
});

test.each([[[]], [['--pets', '1e3']], [['--pets', '100000001']], [['--pest', '3']]])(
  'refuses the arguments %j in one line',
  async (args) => {
    const { code, stdout, stderr } = await seed(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^usage: npm run seed .*\n$/);
  },
);
