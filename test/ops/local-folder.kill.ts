/** The commands when the folder of the local store is in use or damaged. */
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { copyProject, freePort } from './project.ts';

const project = copyProject();

/** Reserves the store as `npm start` does, and serves nothing. */
const HOLDER = `
  import { reserveStore } from './serving.ts';
  reserveStore(Number(process.argv[2]));
  console.log('reserved');
  setInterval(() => {}, 60_000);`;

beforeAll(async () => {
  await cp(join(PROJECT_ROOT, 'client'), join(project.path(), 'client'), { recursive: true });
  await writeFile(join(project.path(), 'ops/holder.ts'), HOLDER);
});
beforeEach(() => rm(join(project.path(), '.wrangler'), { recursive: true, force: true }));

async function holdStore(port: number) {
  const holder = project.start('holder.ts', [String(port)]);
  await expect.poll(holder.stdout).toContain('reserved');
  return holder;
}

test('a second npm start fails until the process of the first has ended, even if it was killed', async () => {
  const port = await freePort();
  const first = await holdStore(port);
  const args = ['--port', String(await freePort())];
  expect(await project.run('start.ts', args)).toEqual({
    code: 1,
    stdout: '',
    stderr: `This store is already running at http://localhost:${port}/docs. To run a second store, use another clone.\n`,
  });
  // The lock survives the folder that it protects.
  await rm(join(project.path(), '.wrangler'), { recursive: true, force: true });
  expect(await project.run('start.ts', args)).toMatchObject({ code: 1, stdout: '' });
  first.process.kill('SIGKILL');
  await first.exited;
  await writeFile(join(project.path(), '.serving.sqlite'), 'garbage '.repeat(99));
  await holdStore(port);
});

test('npm start and npm run reset fail while the store is being reset', async () => {
  await holdStore(0);
  expect(await project.run('start.ts')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The local store cannot be set up: it is being reset. Try again.\n',
  });
  expect(await project.run('reset.ts')).toMatchObject({
    code: 1,
    stderr: 'error: the local store cannot be emptied: it is being reset. Try again.\n',
  });
});

test('npm start names npm run reset when files are damaged, and npm run reset repairs the store', async () => {
  const folder = join(project.path(), '.wrangler');
  const args = ['--port', String(await freePort())];
  const damaged = {
    code: 1,
    // A runtime that cannot start has printed the reason before.
    stderr: expect.stringMatching(/^The local store cannot be set up: .*npm run reset\)\n$/m),
  };
  const emptied = { code: 0, stdout: 'The local store is empty.\n', stderr: '' };

  await writeFile(folder, 'a file');
  expect(await project.run('start.ts', args)).toMatchObject(damaged);
  expect(await project.run('reset.ts')).toEqual(emptied);

  const state = join(folder, 'state');
  const entries = await readdir(state, { recursive: true });
  // SQLite would restore a database from its log.
  for (const name of entries.filter((entry) => entry.endsWith('-wal'))) await rm(join(state, name));
  const databases = entries.filter((name) => name.endsWith('.sqlite'));
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) await writeFile(join(state, name), 'garbage '.repeat(99));
  expect(await project.run('start.ts', args)).toMatchObject(damaged);
  expect(await project.run('reset.ts')).toEqual(emptied);
});

test('a command for an environment that is not set up fails with this message', async () => {
  // Without a login and without network.
  const env = { CLOUDFLARE_API_TOKEN: '', CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:1' };
  await mkdir(join(project.path(), 'home'), { recursive: true });
  const homeless = { ...env, HOME: join(project.path(), 'home'), XDG_CONFIG_HOME: '' };
  const args = ['list', '--env', 'production'];
  const { code, stdout, stderr } = await project.run('keys.ts', args, homeless);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^error: production is not set up: wrangler\.toml has placeholders .* See "First set-up" .*\n$/,
  );
});
