/** The packed client: files, entries, size, types and doc comments. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { SUNSET_DATE } from '../../src/middleware/deprecation.ts';
import { runNpm } from './npm.ts';
import { bundle } from './remote.ts';

const PACKAGE = join(PROJECT_ROOT, 'client');
const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));

let packed: string[];

// It builds the package first.
beforeAll(() => {
  const [report] = JSON.parse(
    runNpm('pack', '--ignore-scripts=false', '--dry-run', '--json', '--workspace', 'client'),
  );
  packed = report.files.map(({ path }: { path: string }) => path);
});

test('the package has only the files that it needs', () => {
  const others = packed.filter((path) => !/^dist\/[a-z]+(\.d)?\.[jt]s$/.test(path));
  expect(others.sort()).toEqual(['README.md', 'package.json', 'schema.d.ts']);
  expect(packed).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
});

test('publint finds no problem', async () => {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('the package has no licence: the owner has not chosen one', () => {
  expect(manifest).not.toHaveProperty('license');
});

test('the version is that of the description', () => {
  const description = readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8');
  expect(manifest.version).toBe(JSON.parse(description).info.version);
});

describe('the size', () => {
  const weigh = async (script: string) => gzipSync(await bundle(script, { minify: true })).length;

  test('is at most 6 KiB with its dependencies, minified and compressed', async () => {
    expect(await weigh(`export * from 'animal-store-client'`)).toBeLessThanOrEqual(6 * 1024);
  });

  test('of unused exports is zero', async () => {
    expect(await weigh(`export {} from 'animal-store-client'`)).toBe(await weigh(''));
    const error = await weigh(`export { StoreError } from 'animal-store-client'`);
    expect(error).toBeLessThan(512);
  });
});

describe('the types', () => {
  const consumer = `
    import { createAnimalStore, StoreError } from 'animal-store-client';
    const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey: 'key', fetch });
    export const id: bigint = (await store.createPet({ name: 'Rex', categoryId: 3n })).id;
    for await (const pet of store.listPets({ status: 'sold' })) pet.id satisfies bigint;
    export const isFine = (error: unknown) => error instanceof StoreError && error.cause === undefined;`;

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
    const folder = mkdtempSync(join(PROJECT_ROOT, 'node_modules/.consumer-'));
    try {
      writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(folder, 'consumer.ts'), consumer);
      const compilerOptions = {
        module: 'NodeNext',
        target: 'ES2022',
        strict: true,
        noEmit: true,
        ...options,
      };
      const config = { compilerOptions, files: ['consumer.ts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const tsc = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '--project', folder], {
        encoding: 'utf8',
      });
      expect(stdout).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the doc comment of', () => {
  type Operation = { operationId: string; deprecated?: true; 'x-stability'?: string };
  const { paths } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'public/v1/openapi.json'), 'utf8'));
  const operations = Object.values<Record<string, Operation>>(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId);

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s says its stability, whether it is deprecated, and an example',
    (name, operation) => {
      const types = readFileSync(join(PACKAGE, 'dist/store.d.ts'), 'utf8');
      const [before = ''] = types.split(`\n    ${name}(`);
      const comment = before.slice(before.lastIndexOf('/**'));
      expect(comment.trimEnd()).toMatch(/\*\/$/);
      expect(comment).toMatch(new RegExp(`\\b${operation['x-stability'] ?? 'stable'}\\b`, 'i'));
      expect(comment).toMatch(/\* @example\n/);
      expect(comment.includes('@deprecated')).toBe(operation.deprecated ?? false);
      const date = SUNSET_DATE.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
      expect(comment.includes(date)).toBe(operation.deprecated ?? false);
    },
  );
});
