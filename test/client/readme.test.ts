/** The examples of the client's README, run as one program, and `npm run example`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { startStore } from '../store.ts';

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
  const readme = readFileSync(join(PROJECT_ROOT, 'client/README.md'), 'utf8');
  const program = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code).join('');
  const printed = Array.from(
    program.matchAll(/console\.log\(.*\); \/\/ (.*)/g),
    ([, text]) => text,
  );
  expect(printed.length).toBeGreaterThanOrEqual(7);
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

test('npm run example adds an animal and lists all pages', async () => {
  const { DB } = await store.bindings();
  await DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
     INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, 1, 'available' FROM n`,
  ).run();
  const { status, lines } = await run(EXAMPLE, `${store.url()}/v1`, await store.issueKey());
  expect(status).toBe(0);
  expect(lines).toEqual([
    'added Rex, whose id is 251, of category 9007199254740993',
    ...Array.from({ length: 250 }, (_, i) => `${i + 1}\tPet ${i + 1}`),
    '251\tRex',
  ]);
});

test('npm run example reports an unreachable store and an error in one line', async () => {
  expect(await run(EXAMPLE, 'http://127.0.0.1:1/v1')).toEqual({
    status: 1,
    lines: [''],
    errors: 'No store answers at http://127.0.0.1:1/v1. Start one with: npm start\n',
  });
  const { status, errors } = await run(EXAMPLE, `${store.url()}/v1`, 'no-key');
  expect([status, errors.split(':')[0]]).toEqual([1, 'invalid_api_key']);
  expect(errors.trimEnd().split('\n')).toHaveLength(1);
  expect(await run(EXAMPLE, `${store.url()}/v1`, 'no key')).toEqual({
    status: 1,
    lines: [''],
    errors: 'apiKey: must be printable ASCII without spaces\n',
  });
});
