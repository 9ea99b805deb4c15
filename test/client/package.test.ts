/** The packed client: files, entries, size, types and doc comments. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { description, operations } from '../contract.ts';
import { METHODS, README } from './documents.ts';
import { bundle, packClient } from './tools.ts';

const PACKAGE = join(PROJECT_ROOT, 'client');
const read = (path: string) => fs.readFileSync(join(PACKAGE, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
/** In node_modules, where a consumer finds the package. */
const folder = fs.mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));

let packed: string[];

beforeAll(() => {
  fs.mkdirSync(join(PACKAGE, 'dist'), { recursive: true });
  fs.writeFileSync(join(PACKAGE, 'dist/stale.js'), '');
  packed = packClient('--dry-run').files.map(({ path }) => path);
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('the package has what src has, with types and source maps, and nothing stale', () => {
  const modules = fs.readdirSync(join(PACKAGE, 'src')).map((name) => name.replace('.ts', ''));
  const built = modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`, `${name}.js.map`]);
  const files = [...built.map((name) => `dist/${name}`), 'README.md', 'package.json'];
  expect(packed.toSorted()).toEqual([...files, 'schema.d.ts'].toSorted());
  expect(JSON.parse(read('dist/json.js.map')).sourcesContent).toEqual([read('src/json.ts')]);
});

test('publint finds no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('the package has the version of the description, and no licence: the owner chose none', () => {
  expect(description).toMatchObject({ info: { version: manifest.version } });
  expect(README).toContain(`animal-store-client-${manifest.version}.tgz`);
  expect(manifest).not.toHaveProperty('license');
});

test('README.md has no link that would be dead on the page of a registry', () => {
  const links = Array.from(README.matchAll(/\]\(([^)]*)\)/g), ([, target]) => target);
  expect(links.filter((target) => !target?.startsWith('https://'))).toEqual([]);
});

test('README.md has an import map with every module that a page without a bundler loads', () => {
  const [, map = ''] = /<script type="importmap">(.*)<\/script>/.exec(README) ?? [];
  const { imports } = JSON.parse(map);
  expect(Object.keys(imports)).toEqual([manifest.name, ...Object.keys(manifest.dependencies)]);
  for (const path of Object.values<string>(imports)) fs.accessSync(join(PROJECT_ROOT, path));
});

test.each([
  [6.5 * 1024, '*'],
  [512, '{ StoreError }'],
  [20, '{}'],
])('at most %d bytes, minified and compressed, for the exports %s', async (bytes, exports) => {
  const script = await bundle(`export ${exports} from 'animal-store-client'`, { minify: true });
  expect(gzipSync(script).length).toBeLessThanOrEqual(bytes);
});

/** What the compiler says of a program. */
function compile(options: object, files: string[]): string {
  const compilerOptions = { module: 'NodeNext', target: 'ES2022', strict: true, noEmit: true };
  const config = { compilerOptions: { ...compilerOptions, ...options }, files };
  fs.writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '--project', folder], { encoding: 'utf8' }).stdout;
}

const PAGE = { lib: ['ES2022', 'DOM'], types: [] };
const CONSUMER = `
  import { createAnimalStore, StoreError } from 'animal-store-client';
  const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey: 'key', fetch });
  export const id: bigint = (await store.createPet({ name: 'Rex', categoryId: 3n })).id;
  for await (const pet of store.listPets({ status: 'sold' })) pet.id satisfies bigint;
  export const isFine = (error: unknown) => error instanceof StoreError && error.cause === undefined;`;

test.each([
  ['a strict page', { ...PAGE, exactOptionalPropertyTypes: true }],
  ['Node.js', { lib: ['ES2022'], types: ['node'] }],
  ['a Worker', { lib: ['ES2022'], types: ['@cloudflare/workers-types'] }],
  ['a bundler', { ...PAGE, module: 'ESNext', moduleResolution: 'bundler' }],
])('the types compile in %s', (_, options) => {
  fs.writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
  expect(compile(options, ['consumer.ts'])).toBe('');
});

test('the types name an operation without a line in the table, and without a method', () => {
  fs.cpSync(join(PACKAGE, 'src'), join(folder, 'src'), { recursive: true });
  const schema = read('schema.d.ts')
    .replace('export interface operations {', '$&\n    listToys: operations["listPets"];')
    .replace('export interface paths {', '$&\n    "/toys": { get: operations["listToys"] };');
  fs.writeFileSync(join(folder, 'schema.d.ts'), schema);
  const errors = compile({ ...PAGE, allowImportingTsExtensions: true }, ['src/index.ts']);
  expect(errors).toMatch(/operations\.ts.*\n?.*'listToys' is missing/);
  expect(errors).toMatch(/store\.ts.*\n?.*'listToys' is missing/);
});

test('the examples of the types are TypeScript', () => {
  const examples = read('schema.d.ts').matchAll(/@example (\{.*?)(?=\n +\*( @|\/))/gs);
  const types = Array.from(examples, ([, example = '']) => {
    const value = new Function(`return (${example.replaceAll(/^ +\* /gm, '')});`)();
    return [value.id, value.petId, value.categoryId].map((id) => typeof id);
  });
  expect(new Set(types.flat())).toEqual(new Set(['bigint', 'undefined']));
});

test('README.md has a row for each operation, and for nothing else', () => {
  const described = operations.map(({ method, path }) => `${method} ${path}`);
  expect(METHODS.map(({ request }) => request.replace('/', '/v1/'))).toEqual(described);
});

test.each(METHODS)('the doc comment of $method says what the description says', ({ method }) => {
  const described = operations.find(({ operation }) => operation.operationId === method);
  const [before = ''] = read('dist/store.d.ts').split(`\n    ${method}(`);
  const comment = before.slice(before.lastIndexOf('/**'));
  expect(comment).toMatch(/\* @example\b.*\*\/\s*$/s);
  expect(comment).toMatch(
    new RegExp(`\\b${described?.operation['x-stability'] ?? 'stable'}\\b`, 'i'),
  );
  const says = ['@deprecated', '5 December 2030'].map((text) => comment.includes(text));
  expect(says).toEqual(Array(2).fill(method === 'getPet'));
});
