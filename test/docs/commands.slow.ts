/**
 * The commands of docs/operations.md and docs/keys.md in bash, and the functions that they load
 * (docs/sql/functions.sh).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject } from '../ops/project.ts';

const project = copyProject();

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
  const [remote] = run('STORE=staging; npx() { echo "$@"; }; sql migrations');
  const options = '--remote --env staging --config wrangler.toml --json --command=-- The applied';
  expect(remote).toContain(`wrangler d1 execute DB ${options}`);
  expect(run('sql restore-pets "1, 5"')).toEqual(['']);
});
