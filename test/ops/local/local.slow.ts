/** The local store when its process is killed, and when its files are damaged. */
import { spawnSync } from 'node:child_process';
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

test.each(['operations', 'keys'])(
  'the shell refuses each command of docs/%s.md that still has a placeholder',
  (name) => {
    const page = readFileSync(`docs/${name}.md`, 'utf8');
    const commands = page.match(/(?<=`|^ *)(npx|npm|curl|sql|rows|only|exactly) [^`\n]*<[^`\n]+/gm);
    for (const command of commands ?? ['a placeholder must be found']) {
      const script = `${command.split(' ')[0]}() { echo ran; }; ${command}`;
      expect(spawnSync('bash', ['-c', script]).stdout.length, command).toBe(0);
    }
  },
);

test('the functions of docs/operations.md read the store, and take animals out of an export', async () => {
  await project.run('reset.ts');
  await project.run('seed.ts', ['--pets', '1']);
  const insert = 'INSERT INTO "pets" ("id","name") VALUES';
  const other = 'INSERT INTO "other_rows" ("id","name") VALUES';
  const others = [`${insert}(2,'${insert}(1,`, `${insert}(15,`, 'INSERT INTO "orders" VALUES(1,'];
  const files = {
    backup: [...others, `${insert}(1,'rounded'`, `${insert}(5,`, `${other}(1,'rounded'`],
    exact: [`${insert}(1,'exact'`, `${other}(1,'exact'`],
    empty: [''],
  };
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(project.path(), `${name}.sql`), lines.join('\n'));
  const run = (commands: string) => {
    const script = `. docs/sql/functions.sh local; ${commands}`;
    const { stdout } = spawnSync('bash', ['-ec', script], { cwd: project.path() });
    return `${stdout}`.trim().split('\n');
  };
  const row = expect.stringMatching(/^INSERT OR REPLACE INTO pets .* VALUES \(1, 'Animal 1', .*;$/);
  expect(run('rows restore-pets 1')).toEqual([row]);
  const animals = [`${insert}(1,'exact'`, `${insert}(5,`];
  const all = [...others, ...animals, `${other}(1,'exact'`];
  expect(run('exactly exact.sql < backup.sql')).toEqual(all);
  expect(run('exactly exact.sql < backup.sql | only 1,5')).toEqual(animals);
  expect(run('exactly empty.sql < backup.sql')).toEqual(files.backup);
  // The command of the page that verifies restored rows finds one that is lost.
  const [compare = ''] =
    /(?<=^ *)\{ rows .*$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
  const lost = `${run('rows restore-pets 1')}\n\nlost\n`;
  writeFileSync(join(project.path(), 'rows.sql'), lost);
  expect(run(compare.replaceAll('<ids>', '1'))).toEqual(['3d2', '< lost']);
  expect(run('only "1, 5" < backup.sql')).toEqual(['']);
  expect(run('sql restore-pets "1, 5"')).toEqual(['']);
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
