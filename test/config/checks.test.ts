/** What `npm run check` rejects. A rule of biome.json whose path matches no file rejects nothing. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import packageJson from '../../package.json' with { type: 'json' };
import tsconfig from '../../tsconfig.json' with { type: 'json' };
import { temporaryFolder } from '../support/project.ts';

test('npm run check has all its parts', () => {
  const parts = [
    'node ops/require-packages.mjs',
    ...['npm run lint', 'npm run typecheck', 'npm run types -- --check'],
    ...['npm run openapi -- --check', 'redocly lint public/v1/openapi.json', 'npm run bundle'],
  ];
  expect(packageJson.scripts).toMatchObject({
    check: parts.join(' && '),
    lint: 'biome ci',
    typecheck: 'tsc && tsc --project src',
    types: expect.stringContaining(' --config wrangler.toml '),
  });
});

const { start, dev, test: ownTests, setup, ...others } = packageJson.scripts;

test('only npm start, npm run dev and npm test run the set-up', () => {
  for (const script of [start, dev, ownTests])
    expect(script).toMatch(/^npm run setup --silent && /);
  expect(Object.values(others).join()).not.toMatch(/setup|install\.mjs/);
});

test('each other command first demands the packages', () => {
  // The rest are commands of packages, or run only commands that demand them.
  const commands = Object.values(others).filter((script) =>
    /^node |vitest|&& npm run/.test(script),
  );
  expect(commands.length).toBeGreaterThan(12);
  for (const script of commands)
    expect(script).toMatch(/^node (?:--import=\.\/)?ops\/require-packages\.mjs /);
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

/** Code that is untyped, too nested, too complex or too long. */
const CODE = [
  'export const a: any = 1;',
  'export const b = [1][0]!;',
  'export const c = (x: number) => (x ? 1 : x ? 2 : 3);',
  `export function d(x: number) { ${'if (x) d(x); '.repeat(9)}}`,
  `export function e() {${'\ne();'.repeat(51)}}`,
];
const imports = (...modules: string[]) => modules.map((name) => `import '${name}';`);

/** For each rule a file with lines that the rule rejects. The last rule for a file replaces the others, so each names zod-openapi. */
const REJECTED: Record<string, string[]> = {
  'src/x.ts': [...imports('./pets/description.ts', '../ops/y.ts', 'zod-openapi'), ...CODE],
  'src/pets/x.ts': imports('../app.ts', '../auth/y.ts', '../orders/y.ts', 'zod-openapi'),
  'src/operation/x.ts': imports('../app.ts', '../pets/y.ts', '../middleware/y.ts', 'zod-openapi'),
  'src/d1/x.ts': imports(
    '../http/y.ts',
    'hono',
    'hono/x',
    '@hono/x',
    'zod',
    'zod/mini',
    'zod-openapi',
  ),
  'src/auth/x.ts': imports('../d1/y.ts', 'zod-openapi'),
  'src/http/x.ts': imports('../idempotency/y.ts', 'zod-openapi'),
  'src/idempotency/x.ts': imports('../operation/operation.ts', 'zod-openapi'),
  'src/middleware/x.ts': imports('../d1/y.ts', 'zod-openapi'),
  'src/app.ts': imports('./pets/description.ts'),
  'src/pets/queries.ts': ["export { description } from './description.ts';"],
  'src/pets/routes.ts': ["void import('./description');"],
  // No files of src import each other, not even types.
  'src/one.ts': ["export type { Two } from './two.ts';"],
  'src/two.ts': ["export type { One } from './one.ts';"],
  'openapi/x.ts': imports('../ops/y.ts', '../test/y.ts', '../client/y.ts', '../bench/y.ts'),
  'ops/x.ts': [...imports('../test/y.ts', '../client/y.ts', '../bench/y.ts'), ...CODE],
  'test/x.ts': imports('../client/y.ts', '../bench/y.ts'),
  'bench/x.ts': imports('../openapi/y.ts'),
  'client/x.ts': imports('../src/y.ts'),
  'client/src/x.ts': [...imports('../../ops/y.ts'), ...CODE],
};

/**
 * Whether neither the file nor the line names a folder that was removed. The folder of the client can be left, with its packages, which
 * git ignores.
 */
const isThere = (text: string) => !/client|bench/.test(text) || existsSync('client/package.json');

test('the linter rejects every line that a rule of the project forbids', async () => {
  const folder = await temporaryFolder();
  for (const file of globSync('biome*')) cpSync(file, join(folder, file));
  // Its own imports are allowed.
  cpSync('src', join(folder, 'src'), { recursive: true });
  const expected: string[] = [];
  for (const [file, all] of Object.entries(REJECTED).filter(([name]) => isThere(name))) {
    const lines = all.filter(isThere);
    expected.push(...lines.map((_, i) => `${file}:${i + 1}`));
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), lines.join('\n'));
  }
  const biome = join(PROJECT_ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'lint', '--vcs-enabled=false', '--reporter=github'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const found = stdout.matchAll(/animal-store-\w+\/(.*?),line=(\d+)/g);
  expect(Array.from(found, ([, file, line]) => `${file}:${line}`).sort()).toEqual(expected.sort());
});

test('npm run check names each field, header and parameter without a text', async () => {
  const description = JSON.parse(readFileSync('public/v1/openapi.json', 'utf8'));
  const { headers, parameters, schemas } = description.components;
  delete headers.Location.description;
  delete parameters.Bookmark.description;
  delete schemas.Error.properties.code.description;
  const file = join(await temporaryFolder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(description));
  const redocly = join(PROJECT_ROOT, 'node_modules/@redocly/cli/bin/cli.js');
  const args = [redocly, 'lint', '--format=json', file];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(Array.from(stdout.matchAll(/"pointer": "(.*)"/g), ([, place]) => place).sort()).toEqual([
    '#/components/headers/Location/description',
    '#/components/parameters/Bookmark',
    '#/components/schemas/Error/properties/code/description',
  ]);
});
