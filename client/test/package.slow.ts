/** The packed client, installed into a user's project: its bytes, examples, types and size. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { packClient } from '../../ops/local/client-package.ts';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { startStore } from '../../test/support/store.ts';

const README = readFileSync('client/README.md', 'utf8');
const EXAMPLES = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, block]) => block).join('');

const store = startStore();
const folder = mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));
const run = (command: string) =>
  execFileSync(command, { cwd: folder, shell: true, encoding: 'utf8' });
const [, INSTALLATION = ''] = /```sh\n(.*?)```/s.exec(README) ?? [];
const [NAME = ''] = /client-[\d.]+tgz/.exec(INSTALLATION) ?? [];
const PACKAGE = join(PROJECT_ROOT, 'public', NAME);

beforeAll(() => {
  packClient();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // As README.md shows. The store of the tests may have started before the client was packed.
  for (const command of INSTALLATION.trim().split('\n'))
    run(command.replace('https://api.animal-store.example', `file://${PROJECT_ROOT}/public`));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the client is packed again only if it has changed', () => {
  const { mtimeMs } = statSync(PACKAGE);
  packClient();
  expect(statSync(PACKAGE)).toMatchObject({ mtimeMs });
  utimesSync('client/README.md', new Date(), new Date());
  packClient();
  expect(statSync(PACKAGE).mtimeMs).toBeGreaterThan(mtimeMs);
});

test('the examples of README.md print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const program = EXAMPLES.replaceAll('http://localhost:8787', store.url());
  writeFileSync(join(folder, 'examples.js'), program);
  const shown = Array.from(EXAMPLES.matchAll(/console.*; \/\/ (.*\n)/g), ([, line]) => line);
  expect(run(`"${process.execPath}" examples.js`)).toBe(shown.join(''));
});

test.each([
  { place: 'a page', options: { lib: ['ES2020', 'DOM'], types: [] } },
  { place: 'Node.js', options: { types: ['node'] } },
  {
    place: 'a Worker',
    options: { types: ['@cloudflare/workers-types'], skipLibCheck: true },
  },
])('the examples of README.md compile in $place', ({ options }) => {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true };
  const compilerOptions = { ...strict, module: 'NodeNext', lib: ['ES2020'], ...options };
  const config = JSON.stringify({ compilerOptions, files: ['examples.ts'] });
  writeFileSync(join(folder, 'tsconfig.json'), config);
  writeFileSync(join(folder, 'examples.ts'), EXAMPLES);
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  expect(run(`"${process.execPath}" "${compiler}"`)).toBe('');
});

test('everything is at most 3,000 bytes, minified and compressed, without a dependency', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'node_modules/animal-store-client')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(3_000);
});
