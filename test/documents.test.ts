/** The documents agree with the files, the scripts, the description and the limits of the code. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import clientPackageJson from '../client/package.json' with { type: 'json' };
import wranglerPackage from '../node_modules/wrangler/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };
import packageLock from '../package-lock.json' with { type: 'json' };
import { FRESH_MS } from '../src/auth/key-lookup.ts';
import { PERIOD_S } from '../src/auth/rate-limit.ts';
import { KEPT_HOURS } from '../src/d1/idempotency.ts';
import { DEADLINE_MS } from '../src/d1/run.ts';
import { STATUS_OF } from '../src/errors.ts';
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../src/http/body.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../src/http/headers.ts';
import { MAX_VALUES } from '../src/http/json.ts';
import { LIMIT } from '../src/http/paging.ts';
import { MAX_PROBLEMS, MAX_SEARCH_LENGTH } from '../src/http/validate.ts';
import { MAX_NAME_LENGTH } from '../src/pets/schema.ts';
import { operations } from './contract.ts';

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (document: string) =>
  Array.from(read(document).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const DOCUMENTS = globSync(['*.md', 'docs/*.md', 'client/*.md'], { cwd: PROJECT_ROOT });

test.each(DOCUMENTS)(
  '%s links to files and headings, and names scripts, that exist',
  (document) => {
    const text = read(document);
    const links = Array.from(
      text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g),
      ([, path, anchor]) => ({ file: path ? join(dirname(document), path) : document, anchor }),
    );
    const broken = links.filter(
      ({ file, anchor }) =>
        !existsSync(join(PROJECT_ROOT, file)) || (anchor && !anchorsOf(file).includes(anchor)),
    );
    const scripts = text.matchAll(/npm run (?:-+\w+ )*([a-z][\w:]*)/g);
    const unknown = Array.from(scripts, ([, script = '']) => script).filter(
      (script) => !Object.hasOwn(packageJson.scripts, script),
    );
    expect({ broken, unknown }).toEqual({ broken: [], unknown: [] });
  },
);

/** The texts in backquotes, outside code blocks. */
const quoted = (text = '') =>
  Array.from(text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`]+)`/g), ([, name = '']) => name);

test('SECURITY.md names tests that exist', () => {
  const named = quoted(read('SECURITY.md')).filter((name) => /^[\w/.-]+(\.ts|\/)$/.test(name));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(PROJECT_ROOT, 'test', path)))).toEqual([]);
});

/** The rows of a document's tables, as the texts of their cells. */
const rowsOf = (text: string) =>
  Array.from(text.matchAll(/^\| (.*) \|$/gm), ([, row = '']) => row.split(/ +\| +/));

const ids = operations.map(({ operation }) => operation.operationId).sort();

test('the README has every operation, and every error code with its status', () => {
  const rows = rowsOf(read('README.md'));
  const named = rows.filter(([, request = '']) => /^`(GET|PATCH)/.test(request));
  expect(named.flatMap(([operation]) => quoted(operation)).sort()).toEqual(ids);
  const errors = rows
    .filter(([status = '']) => /^[0-9]{3}$/.test(status))
    .flatMap(([status, codes]) => quoted(codes).map((code) => [code, Number(status)]));
  expect(Object.fromEntries(errors)).toEqual(STATUS_OF);
});

test('the README has the limits of the code and of wrangler.toml', () => {
  type Config = { ratelimits: { name: string; simple: { limit: number } }[] };
  const config: Config = readConfig({ config: 'wrangler.toml', env: 'production' });
  const perPeriod = Object.fromEntries(
    config.ratelimits.map(({ name, simple }) => [name, `${simple.limit} in ${PERIOD_S} s`]),
  );
  const shown = Object.fromEntries(
    rowsOf(read('README.md')).map(([limit, value]) => [limit, value]),
  );
  const values = {
    '`limit` of a list': `${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default}`,
    '`name`': `1 to ${MAX_NAME_LENGTH} Unicode code points`,
    body: `${MAX_BODY_BYTES / 1024} KiB of JSON in UTF-8, uncompressed, sent within ${BODY_DEADLINE_MS / 1000} s, at most ${MAX_VALUES} values`,
    'query string': `${MAX_SEARCH_LENGTH.toLocaleString('en')} characters`,
    'problems in a message': `${MAX_PROBLEMS}`,
    '`Idempotency-Key`': `1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, valid for ${KEPT_HOURS} hours`,
    'requests per key': perPeriod.RATE_LIMITER,
    'time for D1': `${DEADLINE_MS / 1000} s`,
    'revocation of a key': `${FRESH_MS / 1000} s`,
  };
  for (const [limit, value] of Object.entries(values)) expect(shown[limit]).toContain(value);
});

const idsWith = (stability: string) =>
  operations
    .filter(({ operation }) => operation['x-stability'] === stability)
    .map(({ operation }) => operation.operationId);
const api = read('docs/api.md');
const namedAs = (stability: string) =>
  quoted(new RegExp(`^- \\*\\*${stability}\\*\\* operations \\((.*?)\\)`, 'im').exec(api)?.[1]);
const [, retries = ''] = api.split('\n## Retries');
const withAdvice = new Set(rowsOf(retries).flatMap(([request]) => quoted(request)));
const { version, packages } = packageLock;
const locked = [version, packages[''].version, packages.client.version];

test.each<{ fact: string; found: unknown; expected: unknown }>([
  {
    fact: 'the newest changes',
    found: /^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1],
    expected: '1.0.0',
  },
  {
    fact: 'the versions in the lock file',
    found: locked.join(),
    expected: '1.0.0,1.0.0,1.0.0',
  },
  { fact: 'the version of the store', found: packageJson.version, expected: '1.0.0' },
  { fact: 'the version of the client', found: clientPackageJson.version, expected: '1.0.0' },
  {
    fact: 'the version of miniflare, which is that of wrangler',
    found: packageJson.devDependencies.miniflare,
    expected: wranglerPackage.dependencies.miniflare,
  },
  { fact: 'the beta operations', found: namedAs('beta'), expected: idsWith('beta') },
  {
    fact: 'the experimental operations',
    found: namedAs('experimental').sort(),
    expected: idsWith('experimental').sort(),
  },
  {
    fact: 'operations without advice about retries',
    found: operations.filter(
      ({ method, operation: { operationId } }) =>
        !withAdvice.has(method) && !withAdvice.has(operationId),
    ),
    expected: [],
  },
])('the documents and packages agree on $fact', ({ found, expected }) => {
  expect(found).toEqual(expected);
});

/** Packages of other platforms that the registry did not offer when the file was written. Their bytes are not verified. */
const WITHOUT_HASH = [
  'cli-android-arm64 cli-android-x64 cli-darwin-arm64 cli-darwin-x64 cli-linux-arm64-musl',
  'cli-linux-x64-musl cli-win32-arm64 cli-win32-x64 workerd-darwin-64 workerd-darwin-arm64',
  'workerd-windows-64',
].join(' ');

test('every package but those of a few other platforms has a hash', () => {
  const without = Object.entries<{ version?: string; integrity?: string; link?: boolean }>(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
    .map(([path]) => path.replace(/^node_modules\/@(biomejs|cloudflare)\//, ''));
  expect(without.toSorted().join(' ')).toBe(WITHOUT_HASH);
});
