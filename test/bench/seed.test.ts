import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT, runWrangler } from '../../ops/wrangler.ts';
import { copyProject, freePort } from '../ops/project.ts';

const project = copyProject();
beforeAll(() =>
  cp(join(PROJECT_ROOT, 'bench'), join(project.path(), 'bench'), { recursive: true }),
);

/** Orders by the status of their animal. */
const COUNTS = `SELECT p.status AS pet, o.status, count(*) AS count FROM orders o JOIN pets p ON p.id = o.pet_id
  GROUP BY p.status, o.status ORDER BY p.status, o.status`;

/** Runs a statement on the local store of the copy. */
async function query(sql: string): Promise<unknown> {
  const args = ['d1', 'execute', 'DB', '--local', '--json', '--command', sql];
  const stdout = await runWrangler(args, { cwd: project.path() });
  return JSON.parse(stdout)[0].results;
}

const seed = (...args: string[]) => project.run('../bench/seed.ts', args);

test('adds animals beside those that are there', async () => {
  await project.run('reset.ts', []);
  expect(await seed('--pets', '3')).toMatchObject({ code: 0, stderr: '' });
  const { code, stdout } = await seed('--pets', '25000');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^25000 animals were added; the last id is 25003\. The database has \d+ MiB\.$/m,
  );
});

test('adds orders of the animals that are there, that suit them, also while the store is served', async () => {
  await project.run('reset.ts', []);
  const store = project.start('start.ts', ['--port', String(await freePort())]);
  await expect.poll(store.stdout, { timeout: 25_000 }).toContain('curl -i');
  const before = await seed('--orders', '3');
  expect([before.code, before.stderr]).toEqual([
    1,
    expect.stringContaining('error: there are no animals to order: --pets N\n'),
  ]);

  const { code, stdout } = await seed('--pets', '400', '--orders', '1000');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^400 animals were added; the last id is 400\./m);
  expect(stdout).toMatch(/^1000 orders were added; the last id is 1000\./m);

  // Two orders of each animal, and a third of the 200 newest; the open ones are each animal's first.
  expect(await query(COUNTS)).toEqual([
    { pet: null, status: 'cancelled', count: 250 },
    { pet: 'available', status: 'cancelled', count: 250 },
    { pet: 'pending', status: 'approved', count: 50 },
    { pet: 'pending', status: 'cancelled', count: 150 },
    { pet: 'pending', status: 'placed', count: 50 },
    { pet: 'sold', status: 'delivered', count: 250 },
  ]);
}, 60_000);

test.each([
  [[]],
  [['--pets', '1e3']],
  [['--pets', '100000001']],
  [['--orders', '0']],
  [['--pets', '3', '--orders', '']],
  [['--pest', '3']],
])('refuses the arguments %j in one line', async (args) => {
  const { code, stdout, stderr } = await seed(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^usage: npm run seed .*\n$/);
});
