/** The documents agree with the files, the scripts, the description and the limits of the code. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };
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

describe.each(globSync(['*.md', 'docs/**/*.md', 'client/*.md'], { cwd: PROJECT_ROOT }))(
  '%s',
  (document) => {
    test('links to files and headings that exist', () => {
      const links = Array.from(
        read(document).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g),
        ([, path, anchor]) => ({ file: path ? join(dirname(document), path) : document, anchor }),
      );
      const broken = links.filter(
        ({ file, anchor }) =>
          !existsSync(join(PROJECT_ROOT, file)) || (anchor && !anchorsOf(file).includes(anchor)),
      );
      expect(broken).toEqual([]);
    });

    test('names scripts that exist', () => {
      const names = read(document).matchAll(/npm\s+run\s+(?:-+\w+\s+)*([a-z][\w:]*)/g);
      const unknown = Array.from(names, ([, script = '']) => script).filter(
        (script) => !Object.hasOwn(packageJson.scripts, script),
      );
      expect(unknown).toEqual([]);
    });
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

test('the changelog begins with the version of package.json', () => {
  expect(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(packageJson.version);
});

/** The rows of a document's tables, as the texts of their cells. */
const rowsOf = (text: string) =>
  Array.from(text.matchAll(/^\| (.*) \|$/gm), ([, row = '']) => row.split(/ +\| +/));

const ids = operations.map(({ operation }) => operation.operationId).sort();

test('the tables of the README have every operation, and every error code with its status', () => {
  const rows = rowsOf(read('README.md'));
  const named = rows.filter(([, request = '']) => /^`(GET|PATCH)/.test(request));
  expect(named.flatMap(([operation]) => quoted(operation)).sort()).toEqual(ids);
  const errors = rows
    .filter(([status = '']) => /^[0-9]{3}$/.test(status))
    .flatMap(([status, codes]) => quoted(codes).map((code) => [code, Number(status)]));
  expect(Object.fromEntries(errors)).toEqual(STATUS_OF);
});

test('the table of limits in the README has the values of the code and of wrangler.toml', () => {
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

test.each(['beta', 'experimental'])('docs/api.md names the %s operations', (stability) => {
  const sentence = new RegExp(`^- \\*\\*${stability}\\*\\* operations\\s+\\(([^)]*)\\)`, 'im');
  const described = operations
    .filter(({ operation }) => operation['x-stability'] === stability)
    .map(({ operation }) => operation.operationId);
  expect(quoted(sentence.exec(read('docs/api.md'))?.[1]).sort()).toEqual(described.sort());
});

test('docs/api.md says of every operation whether a retry is safe', () => {
  const [, retries = ''] = read('docs/api.md').split('\n## Retries');
  const named = new Set(rowsOf(retries).flatMap(([request]) => quoted(request)));
  const missing = operations.filter(
    ({ method, operation }) => !named.has(method) && !named.has(operation.operationId),
  );
  expect(missing).toEqual([]);
});
