import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject, nextMigration } from './project.ts';

const project = copyProject();
const migration = (name: string) => join(project.path(), 'migrations', name);
const check = (...args: string[]) => project.run('check-migrations.ts', args);

test('a recorded migration must not change', async () => {
  expect(await check()).toMatchObject({ code: 0, stderr: '' });

  const name = nextMigration('add_colour');
  await writeFile(migration(name), 'ALTER TABLE pets ADD COLUMN colour TEXT;\n');
  expect(await check()).toMatchObject({
    code: 1,
    stderr: `migrations/${name}: its checksum is not recorded; run \`npm run migrations:record\`\n`,
  });
  expect(await check('--record')).toMatchObject({ code: 0 });
  expect(await check()).toMatchObject({ code: 0 });

  // Git may change line ends on Windows.
  await writeFile(migration(name), 'ALTER TABLE pets ADD COLUMN colour TEXT;\r\n');
  expect(await check()).toMatchObject({ code: 0 });

  const recorded = await readFile(migration('checksums.json'), 'utf8');
  await writeFile(migration(name), 'ALTER TABLE pets ADD COLUMN color TEXT;\n');
  for (const args of [[], ['--record']]) {
    expect(await check(...args)).toMatchObject({
      code: 1,
      stderr: `migrations/${name}: was changed after it was recorded; add another migration instead\n`,
    });
  }
  expect(await readFile(migration('checksums.json'), 'utf8')).toBe(recorded);

  await rm(migration(name));
  expect((await check()).stderr).toBe(`migrations/${name}: is missing, but may have run already\n`);

  const drop = nextMigration('drop', 1);
  await writeFile(migration(drop), 'DROP TABLE pets;');
  const { code, stderr } = await check('--record');
  expect(code).toBe(1);
  expect(stderr).toContain(`${drop}: must be named ${nextMigration('what_it_does')}`);
  expect(stderr).toContain(`${drop}: contracts the schema (DROP)`);
  expect(await readFile(migration('checksums.json'), 'utf8')).toBe(recorded);

  await rm(migration(drop));
  await writeFile(migration('0009_Add.SQL'), 'SELECT 1;');
  expect((await check()).stderr).toContain('migrations/0009_Add.SQL: is not a migration');

  for (const text of ['<<<<<<< HEAD', '[]', '{"a":1}']) {
    await writeFile(migration('checksums.json'), text);
    for (const args of [[], ['--record']]) {
      const { code, stderr } = await check(...args);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^error: migrations\/checksums.json is .*\n$/),
      ]);
    }
    expect(await readFile(migration('checksums.json'), 'utf8')).toBe(text);
  }
  expect(await check('--recrod')).toMatchObject({ code: 1, stdout: '' });
});
