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

test('npm run bench -- rows prints the table of BENCHMARKS.md', () => {
  const rows = run('bench', '--', 'rows').stdout.match(TABLE)?.join('\n');
  expect(read('BENCHMARKS.md')).toContain(`<!-- rows -->\n\n${rows}\n\n<!-- /rows -->`);
});

test('npm run demo prints the table of README.md, and draws its pictures', () => {
  const pictures = PICTURES.map(read);
  const rows = run('demo').stdout.match(TABLE)?.join('\n');
  expect(read('README.md')).toContain(`<!-- demo -->\n\n${rows}\n\n<!-- /demo -->`);
  expect(PICTURES.map(read)).toEqual(pictures);
});
