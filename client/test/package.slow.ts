/** The packed client, installed into a user's project: its bytes, examples, types and size. */
import { execSync } from 'node:child_process';
import { hash } from 'node:crypto';
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
const run = (command: string) => execSync(command, { cwd: folder, encoding: 'utf8' });
const runNode = (line: string) => run(`"${process.execPath}" ${line}`);
const [, INSTALLATION = ''] = /```sh\n(.*?)```/s.exec(README) ?? [];
const { version } = JSON.parse(readFileSync('client/package.json', 'utf8'));
const NAME = `client-${version}.tgz`;
const PACKAGE = `public/${NAME}`;

beforeAll(() => {
  packClient();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // As README.md shows. The store of the tests may have started before the client was packed.
  run(INSTALLATION.replace('https://api.animal-store.example', `file://${PROJECT_ROOT}/public`));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the client is packed again only if it has changed', () => {
  const { mtimeMs } = statSync(PACKAGE);
  packClient();
  expect(statSync(PACKAGE)).toMatchObject({ mtimeMs });
  utimesSync('client/src/send.ts', new Date(), new Date());
  packClient();
  expect(statSync(PACKAGE).mtimeMs).toBeGreaterThan(mtimeMs);
});

test('a changed client has a new version, so that a name always stands for the same files', () => {
  const versions = JSON.parse(readFileSync('client/versions.json', 'utf8'));
  // Only what is in the files: their modes depend on the umask, and the compression on zlib.
  expect(
    versions[version],
    'Raise it in package.json and README.md. Add it to CHANGELOG.md and versions.json.',
  ).toBe(hash('sha256', run(`tar -xOzf ${NAME}`)));
  expect(INSTALLATION).toContain(`npm install ./${NAME}\n`);
  expect(readFileSync('client/CHANGELOG.md', 'utf8')).toContain(`\n## ${version}\n`);
});

test('the examples of README.md print what their comments show', async () => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  writeFileSync(
    join(folder, 'examples.js'),
    EXAMPLES.replaceAll('http://localhost:8787', store.url()),
  );
  expect(runNode('examples.js')).toBe(
    Array.from(EXAMPLES.matchAll(/console.*; \/\/ (.*\n)/g), ([, line]) => line).join(''),
  );
});

test.each([
  ['a page', '--lib ES2020,DOM --types ""'],
  ['Node.js', '--lib ES2020 --types node'],
  ['a Worker', '--lib ES2020 --types @cloudflare/workers-types --skipLibCheck'],
])('the examples of README.md compile in %s', (_, options) => {
  writeFileSync(join(folder, 'examples.ts'), EXAMPLES);
  const strict = '--strict --exactOptionalPropertyTypes --noEmit --ignoreConfig --module NodeNext';
  expect(runNode(`../typescript/bin/tsc ${strict} ${options} examples.ts`)).toBe('');
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
