/** The documents name files, headings, scripts and limits that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import storePackage from '../../package.json' with { type: 'json' };
import { FRESH_MS, KV_DEADLINE_MS } from '../../src/auth/key-lookup.ts';
import { PERIOD_S } from '../../src/auth/rate-limit.ts';
import { DEADLINE_MS } from '../../src/d1/execute.ts';
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../../src/http/body.ts';
import { MAX_VALUES } from '../../src/http/json.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { MAX_PROBLEMS } from '../../src/http/problems.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../../src/http/request-headers.ts';
import { MAX_NAME_LENGTH } from '../../src/pets/schemas.ts';

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

test.each(DOCUMENTS)('%s names files, headings and scripts that exist', (document) => {
  const text = read(document);
  const links = allOf(text, /(?:\]\(|^\[[^\n\]]+\]: |src(?:set)?=")(?!https?:)([^)"\s]+)/gm);
  const dead = links.filter((link) => {
    const [path, anchor] = link.split('#');
    const file = path ? join(dirname(document), path) : document;
    return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
  });
  const scripts = allOf(text, /npm run (?:-+\w+ )*([a-z][\w:-]*)(?![\w:-]| --workspace)/g);
  const missing = scripts.filter((name) => !(name in storePackage.scripts));
  expect([...dead, ...missing]).toEqual([]);
});

const [, production = ''] = read('wrangler.toml').split('[env.production]');
const [requests, writes] = allOf(production, /limit = (\d+)/g).map(Number);

/** A document, the beginning of a line of it, and the numbers that follow in this line. */
const LIMITS: [string, string, (number | undefined)[]][] = [
  ['docs/api.md', '| requests per key ', [requests, PERIOD_S, writes]],
  ['docs/api.md', '| `limit` of a list ', [LIMIT.minimum, LIMIT.maximum, LIMIT.default]],
  ['docs/api.md', '| `name` ', [1, MAX_NAME_LENGTH]],
  ['docs/api.md', '| body ', [MAX_BODY_BYTES / 1024, BODY_DEADLINE_MS / 1000, MAX_VALUES]],
  ['docs/api.md', '| query string ', [MAX_QUERY_LENGTH]],
  ['docs/api.md', '| problems in a message ', [MAX_PROBLEMS]],
  ['docs/api.md', '| `Idempotency-Key` ', [1, MAX_IDEMPOTENCY_KEY_LENGTH]],
  ['docs/api.md', '| time for KV ', [KV_DEADLINE_MS / 1000]],
  ['docs/api.md', '| time for D1 ', [DEADLINE_MS / 1000]],
  ['docs/keys.md', '| a revocation, ', [60, FRESH_MS / 1000]],
  ['openapi/about.md', '- Requests per key: ', [requests, PERIOD_S, writes]],
  ['openapi/about.md', '- A body: ', [MAX_BODY_BYTES / 1024, MAX_VALUES, MAX_QUERY_LENGTH]],
];

test.each(LIMITS)('%s, "%s…": the limits of the code', (document, start, numbers) => {
  const line =
    read(document)
      .split('\n')
      .find((each) => each.startsWith(start)) ?? '';
  const shown = allOf(line.slice(start.length), /(\d[\d,]*)/g).map((text) =>
    Number(text.replaceAll(',', '')),
  );
  expect(shown).toEqual(expect.arrayContaining(numbers));
});
