/** The packed and installed client: files, size, types and doc comments. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { operations } from '../contract.ts';
import { CONSUMER, METHODS, README } from './documents.ts';
import { bundle, compile, installInto, packClient } from './tools.ts';

const PACKAGE = join(PROJECT_ROOT, 'client');
const read = (path: string) => fs.readFileSync(join(PACKAGE, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
/** A user's project, in which the package is installed. It finds the types of runtimes in node_modules above it. */
const folder = fs.mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));

let packed: string[];

beforeAll(() => {
  fs.mkdirSync(join(PACKAGE, 'dist'), { recursive: true });
  fs.writeFileSync(join(PACKAGE, 'dist/stale.js'), '');
  const { path, files } = packClient(folder);
  packed = files;
  installInto(folder, path);
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('the package has what src has, with types and source maps, and nothing stale', () => {
  const modules = fs.readdirSync(join(PACKAGE, 'src')).map((name) => name.replace('.ts', ''));
  const built = modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`, `${name}.js.map`]);
  const others = ['CHANGELOG.md', 'README.md', 'names.d.ts', 'package.json', 'schema.d.ts'];
  expect(packed.toSorted()).toEqual([...built.map((name) => `dist/${name}`), ...others].toSorted());
  expect(JSON.parse(read('dist/json.js.map')).sourcesContent).toEqual([read('src/json.ts')]);
});

test('the installed package runs, and brings no other package', () => {
  const script = `import { createAnimalStore } from 'animal-store-client';
    const fetch = async () => new Response('{"id":9007199254740993}');
    const store = createAnimalStore({ baseUrl: 'https://a.example/v1', apiKey: 'key', fetch });
    console.log((await store.getPet(1n)).id);`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([run.stdout, run.stderr]).toEqual(['9007199254740993n\n', '']);
  const installed = fs.readdirSync(join(folder, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['animal-store-client']);
  expect(manifest).not.toHaveProperty('dependencies');
});

test('the package cannot be published by mistake: the owner chose no licence yet', () => {
  expect(manifest).toMatchObject({ private: true });
  expect(manifest).not.toHaveProperty('license');
});

test('the package, its documents and its User-Agent have one version', () => {
  const { version } = manifest;
  expect(read('src/version.ts')).toContain(`VERSION = '${version}'`);
  expect(/^## (.*)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  expect(README).toContain(`animal-store-client-${version}.tgz`);
});

test('publint finds no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('README.md has no link that would be dead on the page of a registry', () => {
  const links = Array.from(README.matchAll(/\]\(([^)]*)\)/g), ([, target]) => target);
  expect(links.filter((target) => !target?.startsWith('https://'))).toEqual([]);
});

test('the import map of README.md has the module that a page without a bundler loads', () => {
  const [, map = ''] = /<script type="importmap">(.*)<\/script>/.exec(README) ?? [];
  const path = `/node_modules/${manifest.name}/dist/index.js`;
  expect(JSON.parse(map)).toEqual({ imports: { [manifest.name]: path } });
  fs.accessSync(join(folder, path));
});

test.each([
  [4700, '*'],
  [700, '{ StoreError }'],
  [20, '{}'],
])('at most %d bytes, minified and compressed, for the exports %s', async (bytes, exports) => {
  const script = await bundle(`export ${exports} from 'animal-store-client'`, { minify: true });
  expect(gzipSync(script).length).toBeLessThanOrEqual(bytes);
});

const TYPESCRIPT_7 = 'node_modules/typescript';
const TYPESCRIPT_5_9 = 'client/node_modules/typescript';
const PAGE = { lib: ['ES2022', 'DOM'], types: [] };
const WORKER = { lib: ['ES2022'], types: ['@cloudflare/workers-types'] };

test.each([
  ['a page', TYPESCRIPT_7, PAGE],
  ['a page, with TypeScript 5.9', TYPESCRIPT_5_9, PAGE],
  ['Node.js', TYPESCRIPT_7, { lib: ['ES2022'], types: ['node'] }],
  ['a Worker', TYPESCRIPT_7, { ...WORKER, skipLibCheck: true }],
  ['a bundler', TYPESCRIPT_7, { ...PAGE, module: 'ESNext', moduleResolution: 'bundler' }],
])('the types compile in %s', (_, typescript, options) => {
  expect(compile(typescript, folder, options, CONSUMER)).toBe('');
});

test.each([TYPESCRIPT_7, TYPESCRIPT_5_9])('the examples of README.md compile with %s', (path) => {
  const examples = Array.from(README.matchAll(/```ts\n(.*?)```/gs), ([, code]) => code).join('');
  expect(compile(path, folder, { types: ['node'], skipLibCheck: true }, examples)).toBe('');
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
  const tags = Array.from(comment.matchAll(/@(deprecated|beta|experimental)\b/g), ([, tag]) => tag);
  const deprecated = method === 'getPet' ? ['deprecated'] : [];
  const stability = described?.operation['x-stability'] ?? [];
  expect(tags).toEqual([...deprecated, stability].flat());
});
