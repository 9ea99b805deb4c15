/** The packed client: files, entries, size, types and doc comments. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { SUNSET_DATE } from '../../src/middleware/deprecation.ts';
import { METHODS, OPERATIONS, README, VERSION } from './documents.ts';
import { bundle, runNpm } from './tools.ts';

const PACKAGE = join(PROJECT_ROOT, 'client');
const read = (path: string) => readFileSync(join(PACKAGE, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
/** In node_modules, where a consumer finds the package. */
const folder = mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));

let packed: string[];

// It builds the package first.
beforeAll(() => {
  mkdirSync(join(PACKAGE, 'dist'), { recursive: true });
  writeFileSync(join(PACKAGE, 'dist/stale.js'), '');
  const [report] = JSON.parse(runNpm('pack', '--dry-run', '--json', '--workspace', 'client'));
  packed = report.files.map(({ path }: { path: string }) => path);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the package has what src has, with types and source maps, and nothing stale', () => {
  const modules = readdirSync(join(PACKAGE, 'src')).map((name) => name.replace('.ts', ''));
  const built = modules.flatMap((name) => [
    `dist/${name}.d.ts`,
    `dist/${name}.js`,
    `dist/${name}.js.map`,
  ]);
  expect(packed.toSorted()).toEqual(
    [...built, 'README.md', 'package.json', 'schema.d.ts'].toSorted(),
  );
  expect(JSON.parse(read('dist/json.js.map')).sourcesContent).toEqual([read('src/json.ts')]);
});

test('publint finds no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('the package has no licence: the owner has not chosen one', () => {
  expect(manifest).not.toHaveProperty('license');
});

test('the version is that of the description', () => {
  expect(manifest.version).toBe(VERSION);
  expect(README).toContain(`animal-store-client-${VERSION}.tgz`);
});

describe('README.md', () => {
  test('has every operation in its table of methods, with its request', () => {
    const described = OPERATIONS.map(({ operationId, request }) => `${operationId} ${request}`);
    expect(METHODS.map(({ method, request }) => `${method} ${request}`)).toEqual(described);
  });

  test('has no link that would be dead on the page of a registry', () => {
    const links = Array.from(README.matchAll(/\]\(([^)]*)\)/g), ([, target]) => target);
    expect(links.filter((target) => !target?.startsWith('https://'))).toEqual([]);
  });

  test('has an import map with every module that a page without a bundler loads', () => {
    const [, map = ''] = /<script type="importmap">(.*)<\/script>/.exec(README) ?? [];
    const { imports } = JSON.parse(map);
    expect(Object.keys(imports)).toEqual([manifest.name, ...Object.keys(manifest.dependencies)]);
    for (const path of Object.values<string>(imports)) readFileSync(join(PROJECT_ROOT, path));
  });
});

describe('the size', () => {
  const weigh = async (script: string) => gzipSync(await bundle(script, { minify: true })).length;

  test('is at most 6.5 KiB with its dependencies, minified and compressed', async () => {
    expect(await weigh(`export * from 'animal-store-client'`)).toBeLessThanOrEqual(6.5 * 1024);
  });

  test('of unused exports is zero', async () => {
    expect(await weigh(`export {} from 'animal-store-client'`)).toBe(await weigh(''));
    const error = await weigh(`export { StoreError } from 'animal-store-client'`);
    expect(error).toBeLessThan(512);
  });
});

/** What the compiler says of a program. */
function compile(options: object, files: string[]): string {
  const compilerOptions = { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true };
  const config = { compilerOptions: { ...compilerOptions, ...options }, files };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--project', folder];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout;
}

describe('the types', () => {
  const consumer = `
    import { createAnimalStore, StoreError } from 'animal-store-client';
    const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey: 'key', fetch });
    export const id: bigint = (await store.createPet({ name: 'Rex', categoryId: 3n })).id;
    for await (const pet of store.listPets({ status: 'sold' })) pet.id satisfies bigint;
    export const isFine = (error: unknown) => error instanceof StoreError && error.cause === undefined;`;

  beforeAll(() => {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'consumer.ts'), consumer);
  });

  test.each([
    ['a page', { lib: ['ES2022', 'DOM'], types: [] }],
    ['Node.js', { lib: ['ES2022'], types: ['node'] }],
    ['a Worker', { lib: ['ES2022'], types: ['@cloudflare/workers-types'] }],
    ['a stricter project', { lib: ['ES2022', 'DOM'], types: [], exactOptionalPropertyTypes: true }],
    [
      'a bundler',
      { lib: ['ES2022', 'DOM'], types: [], module: 'ESNext', moduleResolution: 'bundler' },
    ],
  ])('compile in %s', (_, options) => {
    expect(compile(options, ['consumer.ts'])).toBe('');
  });

  test('name an operation without a line in the table, and without a method', () => {
    cpSync(join(PACKAGE, 'src'), join(folder, 'src'), { recursive: true });
    const schema = read('schema.d.ts')
      .replace('export interface operations {', '$&\n    listToys: operations["listPets"];')
      .replace('export interface paths {', '$&\n    "/toys": { get: operations["listToys"] };');
    writeFileSync(join(folder, 'schema.d.ts'), schema);
    const options = { lib: ['ES2022', 'DOM'], types: [], allowImportingTsExtensions: true };
    const errors = compile(options, ['src/index.ts']);
    expect(errors).toMatch(/operations\.ts.*\n?.*'listToys' is missing/);
    expect(errors).toMatch(/store\.ts.*\n?.*'listToys' is missing/);
  });

  test('have examples that are TypeScript', () => {
    const examples = read('schema.d.ts').matchAll(/@example (\{.*?)(?=\n +\*( @|\/))/gs);
    const values = Array.from(examples, ([, example = '']) =>
      new Function(`return (${example.replaceAll(/^ +\* /gm, '')});`)(),
    );
    const ids = values.flatMap(({ id, petId, categoryId }) => [id, petId, categoryId]);
    const types = new Set(ids.map((id) => typeof id));
    expect(types).toEqual(new Set(['bigint', 'undefined']));
  });
});

describe('the doc comment of', () => {
  test.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s says its stability, whether it is deprecated, and an example',
    (name, operation) => {
      const [before = ''] = read('dist/store.d.ts').split(`\n    ${name}(`);
      const comment = before.slice(before.lastIndexOf('/**'));
      expect(comment.trimEnd()).toMatch(/\*\/$/);
      expect(comment).toMatch(new RegExp(`\\b${operation['x-stability'] ?? 'stable'}\\b`, 'i'));
      expect(comment).toMatch(/\* @example\b/);
      expect(comment.includes('@deprecated')).toBe(operation.deprecated ?? false);
      const date = SUNSET_DATE.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
      expect(comment.includes(date)).toBe(operation.deprecated ?? false);
    },
  );
});
