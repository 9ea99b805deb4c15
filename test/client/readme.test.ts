/** The examples of the client's README, run as one program, and `node client/example.ts`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local-store.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { startStore } from '../store.ts';
import { README } from './documents.ts';

const store = startStore();

/** Runs a TypeScript file, and returns what it prints. */
async function run(...args: string[]) {
  const child = spawn(process.execPath, args);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, lines: output.trimEnd().split('\n'), errors };
}

test('the examples print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const program = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code).join('');
  const printed = Array.from(
    program.matchAll(/console\.log\(.*\); \/\/ (.*)/g),
    ([, text]) => text,
  );
  expect(printed.length).toBeGreaterThanOrEqual(8);
  const folder = mkdtempSync(join(tmpdir(), 'client-readme-'));
  try {
    const file = join(folder, 'readme.mts');
    const source = pathToFileURL(join(PROJECT_ROOT, 'client/src/index.ts')).href;
    writeFileSync(
      file,
      program.replace('animal-store-client', source).replace('http://localhost:8787', store.url()),
    );
    expect(await run(file)).toEqual({ status: 0, lines: printed, errors: '' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const EXAMPLE = join(PROJECT_ROOT, 'client/example.ts');

test('the example adds an animal, and lists ten', async () => {
  await store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
     INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, 1, 'available' FROM n`,
  );
  const key = await store.issueKey();
  expect(await run(EXAMPLE, '--url', `${store.url()}/v1`, '--key', key)).toEqual({
    status: 0,
    lines: [
      'added Rex, whose id is 251, of category 9007199254740993',
      ...Array.from({ length: 10 }, (_, i) => `${i + 1}\tPet ${i + 1}`),
    ],
    errors: '',
  });
});

test.each([
  [
    ['--url', 'http://127.0.0.1:1/v1'],
    'No store answers at http://127.0.0.1:1/v1. Start one with: npm start',
  ],
  [['--key', 'no-key'], 'invalid_api_key: '],
  [['--key', 'no key'], 'apiKey: must be a string of printable ASCII without spaces'],
  [['--kye', 'key'], "Unknown option '--kye'"],
])('the example with %j fails with a message', async (args, message) => {
  const url = args.includes('--url') ? [] : ['--url', `${store.url()}/v1`];
  const { status, lines, errors } = await run(EXAMPLE, ...args, ...url);
  expect([status, lines]).toEqual([1, ['']]);
  expect(errors.split('\n')[0]).toContain(message);
  expect(errors).not.toContain('    at ');
});

test('the example with --help says its usage', async () => {
  const { status, lines } = await run(EXAMPLE, '--help');
  expect([status, lines[0]?.split(' ')[0]]).toEqual([0, 'usage:']);
});
