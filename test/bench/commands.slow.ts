/** The commands of the benchmarks run, and the documents show what they print. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const TABLE = /^\|.*\|$/gm;
const PICTURES = ['light', 'dark'].map((theme) => `docs/images/lost-answer-${theme}.svg`);

/** Runs a script of package.json that measures next to nothing. */
function run(...script: string[]) {
  const env = { ...process.env, BENCH: 'trial' };
  return spawnSync('npm', ['run', ...script], { encoding: 'utf8', env });
}

const read = (path: string) => readFileSync(path, 'utf8');

test.each(['race', 'load', 'size'])('npm run bench -- %s prints a table', (part) => {
  const { stdout, status, stderr } = run('bench', '--', part);
  expect(status, stderr).toBe(0);
  expect(stdout.match(TABLE)?.length).toBeGreaterThan(2);
});

test('npm run bench -- against HEAD races with a checkout', () => {
  // Its exit code depends on the time.
  expect(run('bench', '--', 'against', 'HEAD').stdout).toMatch(/^\| create +\| \d/m);
});

test.each([
  ['BENCHMARKS.md', 'rows', 'bench', '--', 'rows'],
  ['README.md', 'demo', 'demo'],
])('%s has the table %s, and no picture changes', (document, name, ...script) => {
  const pictures = PICTURES.map(read);
  const rows = run(...script)
    .stdout.match(TABLE)
    ?.join('\n');
  expect(read(document)).toContain(`<!-- ${name} -->\n\n${rows}\n\n<!-- /${name} -->`);
  expect(PICTURES.map(read)).toEqual(pictures);
});
