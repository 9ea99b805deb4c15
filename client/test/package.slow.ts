/** The packed client, installed into a user's project: its examples, types and size. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { startStore } from '../../test/support/store.ts';

const README = readFileSync('client/README.md', 'utf8');
const EXAMPLES = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, block]) => block).join('');

const store = startStore();
const folder = mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));
const run = (command: string, cwd = folder) =>
  execFileSync(command, { cwd, shell: true, encoding: 'utf8' });

beforeAll(() => {
  run(`npm run --silent client:pack -- --pack-destination "${folder}"`, PROJECT_ROOT);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run(
    'npm install --no-workspaces --ignore-scripts --no-audit --silent ./animal-store-client-*.tgz',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the examples of README.md print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const { code } = await transform(EXAMPLES.replaceAll('http://localhost:8787', store.url()), {
    loader: 'ts',
  });
  writeFileSync(join(folder, 'examples.js'), code);
  const shown = Array.from(EXAMPLES.matchAll(/console.*; \/\/ (.*\n)/g), ([, line]) => line);
  expect(run(`"${process.execPath}" examples.js`)).toBe(shown.join(''));
});

test.each([
  { place: 'a page', options: { lib: ['ES2022', 'DOM'], types: [], moduleResolution: 'bundler' } },
  { place: 'Node.js', options: { types: ['node'] } },
  {
    place: 'a Worker',
    options: { types: ['@cloudflare/workers-types'], skipLibCheck: true },
  },
])('the examples of README.md compile in $place', ({ options }) => {
  const module = 'moduleResolution' in options ? 'ESNext' : 'NodeNext';
  const strict = { target: 'ES2022', lib: ['ES2022'], module, strict: true, noEmit: true };
  const compilerOptions = { ...strict, exactOptionalPropertyTypes: true, ...options };
  const config = JSON.stringify({ compilerOptions, files: ['examples.ts'] });
  writeFileSync(join(folder, 'tsconfig.json'), config);
  writeFileSync(join(folder, 'examples.ts'), EXAMPLES);
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  expect(run(`"${process.execPath}" "${compiler}"`)).toBe('');
});

test('everything is at most 3,000 bytes, minified and compressed, without a dependency', async () => {
  const { outputFiles = [] } = await build({
    stdin: { contents: "export * from 'animal-store-client'", resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
  });
  expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(3_000);
});
