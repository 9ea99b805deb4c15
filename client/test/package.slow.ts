/** The packed and installed client: size, types, documents and examples. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { operations } from '../../test/support/contract.ts';
import { startStore } from '../../test/support/store.ts';
import { EXAMPLES, README } from './documents.ts';
import { bundle, compile, installClient, NODE, run, runIn } from './tools.ts';

const read = (path: string) => readFileSync(path, 'utf8');

const store = startStore();
mkdirSync('client/dist', { recursive: true });
writeFileSync('client/dist/stale.js', '');
const folder = installClient();

test('the package has no module of an earlier build', () => {
  const dist = `${folder}/node_modules/animal-store-client/dist`;
  expect([existsSync(`${dist}/index.js`), existsSync(`${dist}/stale.js`)]).toEqual([true, false]);
});

test('the examples of README.md print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const program = EXAMPLES.replaceAll('http://localhost:8787', store.url());
  const shown = Array.from(EXAMPLES.matchAll(/console.*; \/\/ (.*\n)/g), ([, line]) => line);
  expect(await runIn(folder, program)).toEqual({
    status: 0,
    stdout: shown.join(''),
    stderr: '',
  });
});

test('a CommonJS program can require the package', async () => {
  const program = "console.log(typeof require('animal-store-client').createAnimalStore)";
  expect(await run(`${NODE} -e "${program}"`, folder)).toEqual({
    status: 0,
    stdout: 'function\n',
    stderr: '',
  });
});

test('the package has no dependency, and one version in all documents', () => {
  const { version, dependencies } = JSON.parse(read('client/package.json'));
  expect(dependencies).toBe(undefined);
  expect(/^## (\d\S*)$/m.exec(read('client/CHANGELOG.md'))?.[1]).toBe(version);
  expect(README).toContain(`animal-store-client-${version}.tgz`);
});

test('everything is at most 4,470 bytes, minified and compressed', async () => {
  const script = await bundle(`export * from 'animal-store-client'`, { minify: true });
  const { length } = gzipSync(script);
  console.log(`${length} bytes`);
  // A further operation has a method of its own.
  const further = Math.max(0, operations.length - 10);
  expect(length).toBeLessThanOrEqual(4_470 + 80 * further);
});

const PAGE = { lib: ['ES2022', 'DOM'], types: [], module: 'ESNext', moduleResolution: 'bundler' };

test.each([
  { place: 'a page', options: PAGE },
  // Its `Error` has no `cause`.
  { place: 'a page of 2020', options: { ...PAGE, lib: ['ES2020', 'DOM', 'DOM.AsyncIterable'] } },
  { place: 'Node.js', options: { types: ['node'] } },
  { place: 'a Worker', options: { types: ['@cloudflare/workers-types'], skipLibCheck: true } },
])('the examples of README.md compile in $place', async ({ options }) => {
  expect(await compile(folder, options)).toBe('');
});

const EXAMPLE = `${NODE} client/example.ts --url`;

test('the example adds an animal, and lists ten', async () => {
  await store.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || i, 1, 'available' FROM n",
  );
  vi.stubEnv('STORE_API_KEY', await store.issueKey());
  const { stdout } = await run(`${EXAMPLE} ${store.url()}/v1`);
  vi.unstubAllEnvs();
  const [added, ...listed] = stdout.trimEnd().split('\n');
  expect(added).toBe('added Rex, whose id is 251, of category 9007199254740993');
  expect([listed.length, listed[9]]).toEqual([10, '10\tPet 10']);
});

test.each([
  { args: 'http://127.0.0.1:1', status: 1, line: /^No store answers at .* with --url\n$/ },
  { args: 'x', status: 2, line: /^error: baseUrl: .*\n$/ },
  { args: 'http://127.0.0.1:1 --key secret', status: 2, line: /^usage: .*\n$/ },
  { args: 'http://127.0.0.1:1 secret', status: 2, line: /^usage: .*\n$/ },
])('the example with "--url $args" fails with one line', async ({ args, status, line }) => {
  const failed = await run(`${EXAMPLE} ${args}`);
  expect(failed).toEqual({ status, stdout: '', stderr: expect.stringMatching(line) });
  expect(failed.stderr).not.toContain('secret');
});
