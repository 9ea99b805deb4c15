import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { copyProject, nextMigration } from './project.ts';

const project = copyProject();
const NEXT = nextMigration('add_colour');
const ADD_COLOUR = 'ALTER TABLE pets ADD COLUMN colour TEXT;\n';

const path = (name: string) => join(project.path(), 'migrations', name);
const check = (...args: string[]) => project.run('check-migrations.ts', args);
const recorded = () => readFile(path('checksums.json'), 'utf8');

beforeEach(async () => {
  await rm(path(''), { recursive: true });
  await cp(join(PROJECT_ROOT, 'migrations'), path(''), { recursive: true });
});

/** Adds a migration, and records it. */
async function record(): Promise<void> {
  await writeFile(path(NEXT), ADD_COLOUR);
  expect(await check('--record')).toMatchObject({ code: 0 });
}

test('the migrations of this project are recorded', async () => {
  expect(await check()).toMatchObject({ code: 0, stderr: '' });
});

test('a new migration must be recorded', async () => {
  await writeFile(path(NEXT), ADD_COLOUR);
  expect(await check()).toMatchObject({
    code: 1,
    stderr: `migrations/${NEXT}: its checksum is not recorded; run \`npm run migrations:record\`\n`,
  });
  await record();
  expect(await check()).toMatchObject({ code: 0 });
});

test('a recorded migration must not change, and a change cannot be recorded', async () => {
  await record();
  const before = await recorded();
  await writeFile(path(NEXT), 'ALTER TABLE pets ADD COLUMN color TEXT;\n');
  for (const args of [[], ['--record']]) {
    expect(await check(...args)).toMatchObject({
      code: 1,
      stderr: `migrations/${NEXT}: was changed after it was recorded; add another migration instead\n`,
    });
  }
  expect(await recorded()).toBe(before);
});

test('other line ends, which Git makes on Windows, are not a change', async () => {
  await record();
  await writeFile(path(NEXT), ADD_COLOUR.replace('\n', '\r\n'));
  expect(await check()).toMatchObject({ code: 0 });
});

test('a recorded migration must not be deleted', async () => {
  await record();
  await rm(path(NEXT));
  expect((await check()).stderr).toBe(`migrations/${NEXT}: is missing, but may have run already\n`);
});

test('a new migration must have the next number, and must not remove anything', async () => {
  const before = await recorded();
  const drop = nextMigration('drop', 1);
  await writeFile(path(drop), 'DROP TABLE pets;');
  const { code, stderr } = await check('--record');
  expect(code).toBe(1);
  expect(stderr).toContain(`${drop}: must be named ${nextMigration('what_it_does')}`);
  expect(stderr).toContain(`${drop}: contracts the schema (DROP)`);
  expect(await recorded()).toBe(before);
});

test('another file name is not a migration', async () => {
  await writeFile(path('0009_Add.SQL'), 'SELECT 1;');
  expect((await check()).stderr).toContain('migrations/0009_Add.SQL: is not a migration');
});

test.each(['<<<<<<< HEAD', '[]', '{"a":1}'])(
  'the damaged checksums %j are not replaced',
  async (text) => {
    await writeFile(path('checksums.json'), text);
    for (const args of [[], ['--record']]) {
      expect(await check(...args)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^error: migrations\/checksums.json is .*\n$/),
      });
    }
    expect(await recorded()).toBe(text);
  },
);

test('an unknown argument is an error', async () => {
  expect(await check('--recrod')).toMatchObject({ code: 1, stdout: '' });
});
