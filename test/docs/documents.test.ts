/** The documents agree with the files, the scripts, the description and the limits of the code. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import wranglerPackage from '../../node_modules/wrangler/package.json' with { type: 'json' };
import fallbackPackage from '../../ops/node/package.json' with { type: 'json' };
import storePackage from '../../package.json' with { type: 'json' };
import { RANDOM_LENGTH } from '../../src/auth/key-format.ts';
import { FRESH_MS, KV_DEADLINE_MS, MAX_STALE_MS } from '../../src/auth/key-lookup.ts';
import { PERIOD_S } from '../../src/auth/rate-limit.ts';
import { DEADLINE_MS } from '../../src/d1/execute.ts';
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../../src/http/body.ts';
import { MAX_VALUES } from '../../src/http/json.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { MAX_PROBLEMS } from '../../src/http/problems.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../src/http/request-headers.ts';
import { KEPT_HOURS } from '../../src/idempotency/create-once.ts';
import { MAX_NAME_LENGTH, PetStatus } from '../../src/pets/schemas.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/** The matches of the first group of a pattern. */
const allOf = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, group = '']) => group);

/** The anchors of a file's headings, as GitHub makes them. */
const anchorsOf = (path: string) =>
  allOf(read(path), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'client/*.md']);

/** Whether a link of a document leads to a file, and to a heading of it if it names one. */
function leadsSomewhere(document: string, link: string) {
  const [path, anchor] = link.split('#');
  const file = path ? join(dirname(document), path) : document;
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(file).includes(anchor);
}

test.each(DOCUMENTS)(
  '%s names files, headings and scripts that exist, and its commands are short and have no comments',
  (document) => {
    const text = read(document);
    const links = allOf(text, /\]\((?!https?:)([^)]*)\)/g);
    expect(links.filter((link) => !leadsSomewhere(document, link))).toEqual([]);
    const scripts = allOf(text, /npm\s+run\s+(?:-+\w+\s+)*([a-z][\w:-]*)/g);
    expect(scripts.filter((name) => !(name in storePackage.scripts))).toEqual([]);
    // zsh passes a comment on as arguments.
    const commands = allOf(text, /^```sh\n(.*?)^```/gms);
    expect(commands.join('')).not.toMatch(/(^|\s)#/);
    const blocks = allOf(text, /^ *```(?:sh|console)\n(.*?)^ *```/gms);
    const spans = allOf(text, /`((?:npx|npm|node|curl|sql|rows) [^`]+)`/g);
    const lines = [...blocks, ...spans].flatMap((command) => command.split('\n'));
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  },
);

test('SECURITY.md names tests that exist', () => {
  const named = allOf(read('SECURITY.md'), /`([\w/-]+\.[a-z]+\.ts)`/g);
  expect(named).not.toEqual([]);
  expect(named.filter((path) => !existsSync(`test/${path}`))).toEqual([]);
});

test('the picture of README.md shows files, bindings and environments that exist', () => {
  const [picture = ''] = allOf(read('README.md'), /```mermaid\n(.*?)```/gs);
  const names = allOf(picture, /"(\S+)<br>/g);
  expect(names.length).toBeGreaterThan(10);
  const config = read('wrangler.toml');
  expect(names.filter((name) => !existsSync(name) && !config.includes(`"${name}"`))).toEqual([]);
});

const [, production = ''] = read('wrangler.toml').split('[env.production]');
const [requests, writes] = allOf(production, /limit = (\d+)/g);

/** What documents say of the limits. */
const FACTS = {
  'docs/api.md': [
    `\`limit\` of a list | ${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default} |`,
    `\`name\` | 1 to ${MAX_NAME_LENGTH} Unicode code points`,
    `\`status\` of an animal | ${PetStatus.options.map((status) => `\`${status}\``).join(', ')};`,
    `body | ${MAX_BODY_BYTES / 1024} KiB of JSON`,
    `sent within ${BODY_DEADLINE_MS / 1000} s, at most ${MAX_VALUES} values`,
    `query string | ${MAX_QUERY_LENGTH.toLocaleString('en')} characters`,
    `problems in a message | ${MAX_PROBLEMS} |`,
    `1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, valid for ${KEPT_HOURS} hours`,
    `requests per key | ${requests} in ${PERIOD_S} s, of which ${writes} writes`,
    `time for KV | ${KV_DEADLINE_MS / 1000} s`,
    `cached keys work for up to ${MAX_STALE_MS / 60_000} minutes`,
    `time for D1 | ${DEADLINE_MS / 1000} s`,
    `at most ${FRESH_MS / 1000} s after that`,
  ],
  'SECURITY.md': [
    `A key has ${Math.floor(RANDOM_LENGTH * Math.log2(62))} random bits`,
    `A body that does not arrive within ${BODY_DEADLINE_MS / 1000} seconds`,
    `to ${writes} writes in ${PERIOD_S} s for each key`,
    `A read waits at most ${DEADLINE_MS / 1000} seconds`,
  ],
  'openapi/about.md': [
    `${requests} in ${PERIOD_S} s, of which ${writes} writes`,
    `${MAX_BODY_BYTES / 1024} KiB of JSON, at most ${MAX_VALUES} values`,
    `at most ${LIMIT.maximum} items, default ${LIMIT.default}`,
    `valid for ${KEPT_HOURS} hours`,
  ],
  'client/src/store.ts': [
    `(${LIMIT.maximum} animals in a page by default)`,
    `one page with \`page()\` (${LIMIT.default} by default)`,
  ],
};

// The client may have been removed.
test.each(Object.entries(FACTS).filter(([path]) => existsSync(path)))(
  '%s has the limits of the code',
  (path, facts) => {
    const words = read(path).replaceAll(/[\s*]+/g, ' ');
    for (const fact of facts) expect.soft(words).toContain(fact);
  },
);

test('the newest version of the changelog is that of the package', () => {
  const [newest] = allOf(read('CHANGELOG.md'), /^## (\d\S*)/gm);
  expect(newest).toBe(storePackage.version);
});

test('miniflare has the version that wrangler needs', () => {
  expect(storePackage.devDependencies.miniflare).toBe(wranglerPackage.dependencies.miniflare);
});

test("git's line ends are LF, also on Windows", () => {
  const attributes = execFileSync('git', ['check-attr', 'eol', '--', 'src/app.ts', 'README.md']);
  expect(`${attributes}`.match(/: \w+$/gm)).toEqual([': lf', ': lf']);
});

test('every version in package.json is exact', () => {
  const { dependencies, devDependencies } = storePackage;
  const versions = Object.values({
    ...dependencies,
    ...devDependencies,
    ...fallbackPackage.optionalDependencies,
  });
  expect(versions.filter((each) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(each))).toEqual([]);
});

test('docs/set-up.md gives the token of CI no access to KV', () => {
  const [row = ''] = /^\| CI; release.*$/m.exec(read('docs/set-up.md')) ?? [];
  expect(row).toContain('Workers Scripts: Edit');
  expect(row).not.toContain('KV');
});
