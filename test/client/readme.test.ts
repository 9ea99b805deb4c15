/** The examples of the client's README, run as one program, and `node client/example.ts`. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { startStore } from '../store.ts';
import { README } from './documents.ts';

const store = startStore();
const EXAMPLE = join(PROJECT_ROOT, 'client/example.ts');

/** Runs a TypeScript file, and returns what it prints. */
const run = (...args: string[]) =>
  new Promise<{ status: unknown; lines: string[]; errors: string }>((resolve) => {
    execFile(process.execPath, args, (error, output, errors) =>
      resolve({ status: error?.code ?? 0, lines: output.trimEnd().split('\n'), errors }),
    );
  });

test('the examples print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const program = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code).join('');
  const comments = program.matchAll(/console\.log\(.*\); \/\/ (.*)/g);
  const lines = Array.from(comments, ([, text]) => text);
  expect(lines.length).toBeGreaterThanOrEqual(8);
  const source = pathToFileURL(join(PROJECT_ROOT, 'client/src/index.ts')).href;
  const local = program
    .replace('animal-store-client', source)
    .replace('http://localhost:8787', store.url());
  const printed = await run('--input-type=module-typescript', '--eval', local);
  expect(printed).toEqual({ status: 0, lines, errors: '' });
});

test('the example adds an animal, and lists ten', async () => {
  await store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
     INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, 1, 'available' FROM n`,
  );
  const added = 'added Rex, whose id is 251, of category 9007199254740993';
  const listed = Array.from({ length: 10 }, (_, i) => `${i + 1}\tPet ${i + 1}`);
  const printed = await run(EXAMPLE, '--url', `${store.url()}/v1`, '--key', await store.issueKey());
  expect(printed).toEqual({ status: 0, lines: [added, ...listed], errors: '' });
});

const NONE = 'http://127.0.0.1:1/v1';

test.each([
  [['--url', NONE], `No store answers at ${NONE}. Start one with: npm start`],
  [['--key', 'no-key'], 'invalid_api_key: '],
  [['--key', 'no key'], 'apiKey: must be a string of printable ASCII without spaces'],
  [['--kye', 'key'], "Unknown option '--kye'"],
])('the example with %j fails with a message', async (args, message) => {
  const { status, lines, errors } = await run(EXAMPLE, '--url', `${store.url()}/v1`, ...args);
  expect([status, lines]).toEqual([1, ['']]);
  expect(errors.split('\n')[0]).toContain(message);
  expect(errors).not.toContain('    at ');
});
