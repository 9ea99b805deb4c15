/** The local store when its process is killed, and when its files are damaged. */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../../ops/local/store.ts';
import { copyProject, freePort, startProcess } from '../../support/project.ts';

const project = copyProject();

/** Starts the store as npm does: in a child process that is not ended with its parent. */
const SHELL =
  "require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })";

test('a store stops when the process that started it is killed, and starts again', async () => {
  const port = await freePort();
  const command = ['ops/start.ts', '--port', `${port}`];
  const shell = startProcess(['--eval', SHELL, '--', ...command], project.path());
  await shell.printed('curl -i');
  shell.process.kill('SIGKILL');
  // Its output ends when its child has ended.
  await shell.exited;
  await expect(fetch(`http://localhost:${port}/health`)).rejects.toThrow();
  await project.serve(port);
});

test('a start after a killed one ends the runtime that is left, and keeps its port and rows', async () => {
  await project.run('reset.ts');
  const port = await freePort();
  const first = await project.serve(port);
  await project.run('seed.ts', ['--pets', '1']);
  // Only Node.js, not its group: the runtime goes on.
  first.process.kill('SIGKILL');
  await expect.poll(() => first.process.signalCode).toBe('SIGKILL');
  expect((await fetch(`http://localhost:${port}/health`)).status).toBe(200);
  const second = await project.serve(port, { LC_ALL: 'C' });
  const headers = { authorization: `Bearer ${LOCAL_KEY}` };
  const pets = await fetch(`http://localhost:${port}/v1/pets`, { headers });
  expect(await pets.json()).toMatchObject([{ name: 'Animal 1' }]);
  await second.printed('"route":"/v1/pets"');
});

/** The command lines of all processes that name this copy. */
const listProcesses = () =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(project.path()));

// Windows has no ps.
test.skipIf(process.platform === 'win32')('a stop in the set-up also ends wrangler', async () => {
  const store = project.start('start.ts', ['--port', `${await freePort()}`]);
  await expect.poll(() => listProcesses().join()).toContain('d1 migrations apply');
  store.process.kill('SIGTERM');
  expect((await store.exited).code).toBe(0);
  await expect.poll(listProcesses).toEqual([]);
});

test('the commands of docs/keys.md can be pasted', async () => {
  const page = readFileSync('docs/keys.md', 'utf8').split('## The commands')[1];
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(page ?? '') ?? [];
  const run = `"${process.execPath}" ops/keys.ts`;
  const findId = `ID=$(${run} list | grep 'Price list' | cut -f1)\n`;
  const pasted = commands
    .replaceAll(/npm run (--silent )?keys --/g, run)
    .replace(/(.* rotate )/, `${findId}$1`)
    .replaceAll('<id>', '"$ID"');
  // Bash reads the commands from standard input, as from a terminal: a command that reads it takes the next ones away.
  const options = { cwd: project.path(), input: pasted, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('bash', ['-e'], options);
  expect([status, stderr]).toEqual([0, expect.stringContaining('expires at')]);
  const revoked = [...stdout.matchAll(/^Key key_\w{12} \((.*)\) is revoked\./gm)];
  expect(revoked.map(([, label]) => label)).toEqual(['Price list', "Anna's shop"]);
});

test.each(['operations', 'keys', 'set-up'])(
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
  const others = [`${insert}(2,'${insert}(1,`, `${insert}(15,`, 'INSERT INTO "orders" VALUES(1,'];
  const files = {
    backup: [...others, `${insert}(1,'rounded'`, `${insert}(5,`],
    exact: [`${insert}(1,'exact'`],
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
  const animals = [...files.exact, `${insert}(5,`];
  expect(run('exactly exact.sql < backup.sql')).toEqual([...others, ...animals]);
  expect(run('exactly exact.sql < backup.sql | only 1,5')).toEqual(animals);
  expect(run('exactly empty.sql < backup.sql')).toEqual(files.backup);
  expect(run('only "1, 5" < backup.sql')).toEqual(['']);
});

test('npm start names npm run reset when files are damaged, which deletes them', async () => {
  await project.run('seed.ts', ['--pets', '1']);
  const databases = globSync(join(project.path(), '.wrangler/state/**/*.sqlite*'));
  expect(databases.length).toBeGreaterThan(1);
  for (const name of databases) writeFileSync(name, 'garbage '.repeat(99));
  const { code, stderr } = await project.run('start.ts', ['--port', `${await freePort()}`]);
  expect([code, stderr]).toEqual([1, expect.stringMatching('^error: .*: npm run reset .*\n$')]);
  await project.run('reset.ts');
  // Before the first start, seed sets the store up.
  expect(await project.run('seed.ts', ['--pets', '1'])).toMatchObject({ code: 0 });
});
