/** What `npm run check` rejects. A rule of biome.json whose path matches no file rejects nothing. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import packageJson from '../../package.json' with { type: 'json' };
import tsconfig from '../../tsconfig.json' with { type: 'json' };
import { temporaryFolder } from '../support/project.ts';

test('npm run check has all its parts', () => {
  const parts = ['lint', 'typecheck', 'types:check', 'openapi:check', 'openapi:lint', 'bundle'];
  const commands = ['setup --silent', ...parts].map((name) => `npm run ${name}`);
  expect(packageJson.scripts).toMatchObject({
    check: commands.join(' && '),
    lint: 'biome ci',
    typecheck: 'tsc && tsc --project tsconfig.node.json',
    'types:check': expect.stringMatching(/ --check$/),
    'openapi:check': expect.stringMatching(/ --check$/),
  });
});

test('the compiler is strict', () => {
  const { compilerOptions } = tsconfig;
  for (const option of [
    ...['strict', 'noUncheckedIndexedAccess', 'exactOptionalPropertyTypes', 'noImplicitOverride'],
    ...['noImplicitReturns', 'noFallthroughCasesInSwitch', 'noUnusedLocals', 'noUnusedParameters'],
    ...['erasableSyntaxOnly', 'verbatimModuleSyntax', 'isolatedModules'],
  ])
    expect(compilerOptions).toHaveProperty(option, true);
});

const BIOME = join(PROJECT_ROOT, 'node_modules/@biomejs/biome/bin/biome');

type Diagnostic = { category: string; location: { path: string; start: { line: number } } };

/** Lints files with these lines. Returns each line that is rejected, after its file and the rule. */
async function lint(files: Record<string, string[]>): Promise<string[]> {
  const folder = await temporaryFolder();
  cpSync(join(PROJECT_ROOT, 'biome.json'), join(folder, 'biome.json'));
  for (const [file, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), lines.join('\n'));
  }
  const args = [BIOME, 'lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(stdout);
  return diagnostics.map(({ category, location: { path, start } }) => {
    return `${path} ${category.split('/').at(-1)}: ${files[path]?.[start.line - 1]}`;
  });
}

/** For each rule a file, and modules that it must not import. */
const FORBIDDEN: Record<string, string[]> = {
  'src/app.ts': ['../openapi/x.ts', '../ops/x.ts', '../test/x.ts', 'zod-openapi'],
  'src/pets/x.ts': [
    ...['../app.ts', '../auth/x.ts', '../middleware/x.ts', '../orders/x.ts', '../../ops/x.ts'],
    'zod-openapi',
  ],
  'src/orders/x.ts': ['../app.ts', '../auth/x.ts', '../middleware/x.ts', 'zod-openapi'],
  'src/d1/x.ts': [
    ...['../context.ts', '../errors.ts', '../http/x.ts', 'hono', 'hono/x', '@hono/x'],
    ...['zod', 'zod/mini', 'zod-openapi'],
  ],
  'src/auth/x.ts': ['../operation.ts', '../d1/x.ts', '../http/x.ts', 'zod-openapi'],
  'src/http/x.ts': ['../operation.ts', '../idempotency/x.ts', 'zod-openapi'],
  'src/idempotency/x.ts': ['../operation.ts', '../definition.ts', 'zod-openapi'],
  'src/middleware/x.ts': ['../operation.ts', '../d1/x.ts', 'zod-openapi'],
  'openapi/x.ts': ['../ops/x.ts', '../test/x.ts', '../client/x.ts', '../bench/x.ts'],
  'ops/x.ts': ['../test/x.ts', '../client/x.ts', '../bench/x.ts'],
  'test/x.ts': ['../client/x.ts', '../bench/x.ts'],
  'bench/x.ts': ['../openapi/x.ts', '../client/x.ts'],
  'client/x.ts': ['../src/x.ts'],
  'client/src/x.ts': ['../../src/x.ts', '../../ops/x.ts'],
};

/** Without the folders that were removed. */
const isThere = (path: string) => !/client|bench/.test(path) || existsSync('client');

test('no part imports what it must not know', async () => {
  const imports = Object.entries(FORBIDDEN).map(([file, names]): [string, string[]] => [
    file,
    names.filter(isThere).map((name) => `import '${name}';`),
  ]);
  const files = imports.filter(([file]) => isThere(file));
  const expected = files.flatMap(([file, lines]) =>
    lines.map((line) => `${file} noRestrictedImports: ${line}`),
  );
  expect((await lint(Object.fromEntries(files))).sort()).toEqual(expected.sort());
});

test('no files of src import each other, not even types', async () => {
  const files = {
    'src/a.ts': ["import type { B } from './b.ts';"],
    'src/b.ts': ["import type { A } from './a.ts';"],
  };
  const rejected = await lint(files);
  expect(rejected).toContain("src/a.ts noImportCycles: import type { B } from './b.ts';");
});

/** For each rule on code, a line that it rejects. */
const REJECTED = {
  noExplicitAny: 'export const a: any = 1;',
  noNonNullAssertion: 'export const b = [1][0]!;',
  noNestedTernary: 'export const c = (x: number) => (x ? 1 : x ? 2 : 3);',
  noExcessiveCognitiveComplexity: `export function d(x: number) { ${'if (x) d(x); '.repeat(9)}}`,
  noExcessiveLinesPerFunction: `export function e() {${'\ne();'.repeat(51)}}`,
};

test('no code that ships or runs is too long, too nested or untyped', async () => {
  const lines = Object.values(REJECTED);
  const files = ['src/x.ts', 'ops/x.ts', 'client/src/x.ts'].filter(isThere);
  const rejected = await lint(Object.fromEntries(files.map((file) => [file, lines])));
  const rules = rejected.map((each) => each.split(':')[0]);
  for (const file of files)
    for (const rule of Object.keys(REJECTED)) expect(rules).toContain(`${file} ${rule}`);
});
