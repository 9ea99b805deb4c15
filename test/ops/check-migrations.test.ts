import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { migrationProblems, recordMigrations } from '../../ops/migrations.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { copyProject, nextMigration } from './project.ts';

const project = copyProject();
const NEXT = nextMigration('add_colour');
const ADD_COLOUR = 'ALTER TABLE pets ADD COLUMN colour TEXT;\n';

const path = (name: string) => join(project.path(), 'migrations', name);
const run = (...args: string[]) => project.run('check-migrations.ts', args);
const check = () => migrationProblems(project.path());
const record = () => recordMigrations(project.path());
const recorded = () => readFile(path('hashes.json'), 'utf8');

beforeEach(async () => {
  await rm(path(''), { recursive: true });
  await cp(join(PROJECT_ROOT, 'migrations'), path(''), { recursive: true });
});

/** Adds a migration, and records it. */
async function addRecorded(): Promise<void> {
  await writeFile(path(NEXT), ADD_COLOUR);
  expect(await record()).toEqual([]);
}

test('a new migration must be recorded', async () => {
  expect(await run()).toMatchObject({ code: 0, stderr: '' });
  await writeFile(path(NEXT), ADD_COLOUR);
  expect(await run()).toMatchObject({
    code: 1,
    stderr: `migrations/${NEXT}: its hash is not recorded; run \`npm run migrations:record\`\n`,
  });
  expect(await run('--record')).toMatchObject({ code: 0 });
  expect(await check()).toEqual([]);
});

test('a recorded migration must not change, and a change cannot be recorded', async () => {
  await addRecorded();
  const before = await recorded();
  await writeFile(path(NEXT), 'ALTER TABLE pets ADD COLUMN color TEXT;\n');
  const changed = [
    `migrations/${NEXT}: was changed after it was recorded; add another migration instead`,
  ];
  expect(await check()).toEqual(changed);
  expect(await record()).toEqual(changed);
  expect(await recorded()).toBe(before);
});

test('other line ends, which Git makes on Windows, are not a change', async () => {
  await addRecorded();
  await writeFile(path(NEXT), ADD_COLOUR.replace('\n', '\r\n'));
  expect(await check()).toEqual([]);
});

test('a recorded migration must not be deleted', async () => {
  await addRecorded();
  await rm(path(NEXT));
  expect(await check()).toEqual([`migrations/${NEXT}: is missing, but may have run already`]);
});

test('a new migration must have the next number', async () => {
  const before = await recorded();
  const name = nextMigration('add_colour', 1);
  await writeFile(path(name), ADD_COLOUR);
  const problems = (await record()).join('\n');
  expect(problems).toContain(`${name}: must be named ${nextMigration('what_it_does')}`);
  expect(await recorded()).toBe(before);
});

test('another file name is not a migration', async () => {
  await writeFile(path('0009_Add.SQL'), 'SELECT 1;');
  expect((await check()).join('\n')).toContain('migrations/0009_Add.SQL: is not a migration');
});

test.each(['<<<<<<< HEAD', '[]', '{"a":1}'])(
  'the damaged hashes %j are not replaced',
  async (text) => {
    await writeFile(path('hashes.json'), text);
    await expect(check()).rejects.toThrow('migrations/hashes.json is ');
    await expect(record()).rejects.toThrow('migrations/hashes.json is ');
    expect(await recorded()).toBe(text);
  },
);

test('damaged hashes are one clear line, and an unknown argument is an error', async () => {
  await writeFile(path('hashes.json'), '[]');
  expect(await run()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: migrations\/hashes.json is .*\n$/),
  });
  expect(await run('--recrod')).toMatchObject({ code: 1, stdout: '' });
});
