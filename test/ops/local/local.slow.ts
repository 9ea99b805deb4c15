/** The local store when its process is killed, and when its files are damaged. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { copyProject, endGroup, freePort, startProcess } from '../project.ts';

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

test('wrangler dev applies a new migration when it starts, not when it builds again', async () => {
  const port = await freePort();
  const server = project.serve(port);
  await server.printed('Ready on');
  const migration = join(project.path(), 'migrations/0004_add_weight.sql');
  writeFileSync(migration, 'ALTER TABLE pets ADD weight INTE');
  const source = join(project.path(), 'src/app.ts');
  writeFileSync(source, readFileSync(source));
  await server.printed('Local server updated and ready');
  expect(server.output.stdout).toContain('npm start applies 0004_add_weight.sql');
  writeFileSync(migration, 'ALTER TABLE pets ADD weight INTEGER;');
  server.process.kill('SIGINT');
  await server.exited;
  const again = project.serve(port);
  await again.printed('Ready on');
  const update = ['UPDATE pets SET weight = 1', '--json', '--local', '--env', ''];
  const wrangler = join(project.path(), 'node_modules/wrangler/bin/wrangler.js');
  const command = [wrangler, 'd1', 'execute', 'DB', '--command', ...update];
  expect(await startProcess(command, project.path()).exited).toMatchObject({ code: 0 });
  again.process.kill('SIGINT');
  await again.exited;
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
