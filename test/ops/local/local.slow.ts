/** The local store with the real wrangler: killed set-ups, damaged files, lost output. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { copyProject, endGroup, freePort } from '../project.ts';

const project = copyProject();

const headers = { authorization: `Bearer ${LOCAL_KEY}` };
const fetchPets = async (port: number) =>
  (await fetch(`http://localhost:${port}/v1/pets`, { headers })).json();

test('a fresh clone: an interrupted set-up, then one that serves a store alone', async () => {
  await project.run('reset.ts');
  const port = await freePort();
  const interrupted = project.serve(port);
  await interrupted.printed('Setting up');
  endGroup(interrupted.process.pid);
  await interrupted.exited;
  const server = project.serve(port);
  await server.printed('Ready on');
  expect(server.output.stdout).toContain(LOCAL_KEY);
  expect(await project.run('seed.ts', ['--pets', '1'])).toMatchObject({ code: 0 });
  expect(await fetchPets(port)).toMatchObject([{ name: 'Animal 1' }]);
  expect(await fetch(`http://localhost:${port}/client-1.0.0.tgz`)).toMatchObject({ status: 200 });
  // Its key is public, so no other machine may reach it.
  await expect(fetch(`http://127.0.0.2:${port}/health`)).rejects.toThrow('fetch failed');

  const second = await project.serve(port).exited;
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('already in use')]);
  expect(second.stdout).toContain('The store is served.');
  const reset = await project.run('reset.ts');
  expect([reset.code, reset.stderr]).toEqual([1, expect.stringContaining('stop wrangler dev')]);
  server.process.kill('SIGINT');
  await server.exited;
});

test('npm run reset deletes a store whose files are damaged', async () => {
  await project.run('seed.ts', ['--pets', '1']);
  const databases = globSync(join(project.path(), '.wrangler/state/**/*.sqlite*'));
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) writeFileSync(name, 'garbage '.repeat(99));
  const { code, stderr } = await project.run('keys.ts', ['list']);
  expect([code, stderr]).toEqual([1, expect.stringContaining(': npm run reset ')]);
  expect(await project.run('reset.ts')).toMatchObject({ code: 0 });
  // Before the first start, seed sets the store up.
  const seeded = await project.run('seed.ts', ['--pets', '1']);
  expect([seeded.code, seeded.stderr]).toEqual([0, '']);
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

// Nobody gets the key without standard output.
test.each([
  ['stdout', 1],
  ['stderr', 0],
] as const)('a create whose %s is closed ends with the exit code %i', async (stream, code) => {
  const { process, exited } = project.start('keys.ts', ['create', '--label', 'Bob']);
  process[stream].destroy();
  expect(await exited).toMatchObject({ code });
});
