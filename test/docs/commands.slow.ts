/** The functions of docs/operations.md, docs/sql/functions.sh, in bash. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startClone } from '../ops/clone.ts';

const clone = await startClone(false);

test('they read the store, and take animals out of an export', async () => {
  await clone.run('node ops/reset.ts');
  await clone.run('node ops/seed.ts --pets 1');
  const insert = 'INSERT INTO "pets" ("id","name") VALUES';
  const other = 'INSERT INTO "other_rows" ("id","name") VALUES';
  const others = [`${insert}(2,'${insert}(1,`, `${insert}(15,`, 'INSERT INTO "orders" VALUES(1,'];
  const files = {
    backup: [...others, `${insert}(1,'rounded'`, `${insert}(5,`, `${other}(1,'rounded'`],
    exact: [`${insert}(1,'exact'`, `${other}(1,'exact'`],
    empty: [''],
  };
  for (const [name, lines] of Object.entries(files))
    writeFileSync(clone.path(`${name}.sql`), lines.join('\n'));
  const run = (commands: string) => {
    const script = `. docs/sql/functions.sh local; ${commands}`;
    const { stdout } = spawnSync('bash', ['-ec', script], { cwd: clone.path('') });
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
  writeFileSync(clone.path('rows.sql'), lost);
  expect(run(compare.replaceAll('<ids>', '1'))).toEqual(['3d2', '< lost']);
  expect(run('only "1, 5" < backup.sql')).toEqual(['']);
  const [remote] = run('STORE=staging; npx() { echo "$@"; }; sql migrations');
  const options = '--remote --env staging --config wrangler.toml --json --command=-- The applied';
  expect(remote).toContain(`wrangler d1 execute DB ${options}`);
  expect(run('sql restore-pets "1, 5"')).toEqual(['']);
});
