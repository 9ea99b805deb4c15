/** The documents that users paste from: each curl line is answered as the document shows. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };
import { MAX_AGE_MS } from '../src/auth/keys/cache.ts';
import { KV_CACHE_S } from '../src/auth/keys/lookup.ts';
import { recordName } from '../src/auth/keys/record.ts';
import { PERIOD_S } from '../src/auth/rate-limit.ts';
import { DEADLINE_MS } from '../src/d1/database.ts';
import { KEPT_HOURS, MAX_LENGTH } from '../src/d1/idempotency/header.ts';
import { STATUS_OF } from '../src/errors.ts';
import { BODY_DEADLINE_MS, MAX_BODY_BYTES } from '../src/http/body.ts';
import { LIMIT } from '../src/http/paging.ts';
import { MAX_PROBLEMS, MAX_QUERY_BYTES } from '../src/http/validate.ts';
import { MAX_NAME_LENGTH } from '../src/pets/schema.ts';
import { type Reply, startStore } from './store.ts';

const store = startStore();
const LOCAL_ORIGIN = 'http://localhost:8787';

const readDocument = (name: string) => readFile(join(PROJECT_ROOT, name), 'utf8');

type Example = { curl: string; shownAnswer: string | undefined };

/** The curl lines of a document, variables expanded, each with the answer that follows it. */
function examplesOf(document: string): Example[] {
  const variables = new Map<string, string>();
  const examples: Example[] = [];
  for (const [, language, text = ''] of document.matchAll(/```(sh|http)\n(.*?)```/gs)) {
    const last = examples.at(-1);
    if (language === 'http' && last) last.shownAnswer = text.trimEnd();
    for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
      const [, name, value] = /^([A-Z]+)=(\S+)$/.exec(line) ?? [];
      if (name && value) variables.set(name, value);
      if (!line.startsWith('curl ')) continue;
      const curl = line.replaceAll(/\$([A-Z]+)/g, (_, used) => variables.get(used) ?? '');
      examples.push({ curl, shownAnswer: undefined });
    }
  }
  return examples;
}

/** Sends the request of a curl line: of curl's options, `-i`, `-X`, `-H` and `-d`. */
function send(curl: string): Promise<Reply> {
  const words = Array.from(
    curl.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  const headers: Record<string, string | null> = { authorization: null };
  let path = '';
  let body: string | undefined;
  let method: string | undefined;
  for (let i = 1; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (word === '-H') {
      const [name = '', value = ''] = (words[++i] ?? '').split(': ');
      headers[name] = value;
    } else if (word === '-d') body = words[++i] ?? '';
    else if (word === '-X') method = words[++i] ?? '';
    else if (word.startsWith(LOCAL_ORIGIN)) path = word.slice(LOCAL_ORIGIN.length);
    else if (word !== '-i') throw new Error(`unknown option of curl: ${word}`);
  }
  method ??= body === undefined ? 'GET' : 'POST';
  return store.fetch(path, { method, headers, ...(body !== undefined && { body }) });
}

/** A reply in the form in which the documents show it, with the headers that they show. */
function shown({ status, headers, text }: Reply, shownAnswer: string): string {
  const [statusLine = '', ...lines] = (shownAnswer.split('\n\n')[0] ?? '').split('\n');
  const reason = statusLine.split(' ').slice(2).join(' ');
  const names = lines.map((line) => line.split(':')[0] ?? '');
  const head = names.map((name) => `${name}: ${headers.get(name)}`);
  const answer = [`HTTP/1.1 ${status} ${reason}`, ...head].join('\n');
  return (text === '' ? answer : `${answer}\n\n${text}`).replaceAll(store.url(), LOCAL_ORIGIN);
}

/** A document cannot know when its orders are placed. */
function withoutTimes(text: string): string {
  return text.replaceAll(/"placedAt":"[0-9-]{10}T[0-9:.]{12}Z"/g, '"placedAt":"…"');
}

test('the changelog begins with the version of package.json', async () => {
  const changelog = await readDocument('CHANGELOG.md');
  expect(/^## (\S+)/m.exec(changelog)?.[1]).toBe(packageJson.version);
});

/** The rows of the README's tables, as arrays of the cells' texts. */
async function tableRows(): Promise<string[][]> {
  const readme = await readDocument('README.md');
  return Array.from(readme.matchAll(/^\| (.*) \|$/gm), ([, row = '']) => row.split(/ +\| +/));
}

/** The texts in backquotes. */
const quoted = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text);

test('the table of errors has every code with its status', async () => {
  const rows = (await tableRows()).filter(([status = '']) => /^[0-9]{3}$/.test(status));
  const shown = rows.flatMap(([status, codes]) =>
    quoted(codes).map((code) => [code, Number(status)]),
  );
  expect(Object.fromEntries(shown)).toEqual(STATUS_OF);
});

type Config = { ratelimits: { name: string; simple: { limit: number } }[] };

test('the table of limits has the values of the code and of wrangler.toml', async () => {
  const config: Config = readConfig({ config: 'wrangler.toml', env: 'production' });
  const limits = Object.fromEntries(
    config.ratelimits.map(({ name, simple }) => [name, simple.limit]),
  );
  // KV takes up to 60 s to propagate a change.
  const revocation = (60 + KV_CACHE_S + MAX_AGE_MS / 1000) / 60;
  const values = {
    '`limit` of a list': `${LIMIT.minimum} to ${LIMIT.maximum}, default ${LIMIT.default}`,
    '`name`': `1 to ${MAX_NAME_LENGTH} Unicode code points`,
    body: `${MAX_BODY_BYTES / 1024} KiB of JSON in UTF-8, uncompressed, sent within ${BODY_DEADLINE_MS / 1000} s`,
    'query string': `${MAX_QUERY_BYTES / 1024} KiB`,
    'problems in a message': `${MAX_PROBLEMS}`,
    '`Idempotency-Key`': `1 to ${MAX_LENGTH} printable ASCII characters, valid for ${KEPT_HOURS} hours`,
    'requests per key': `${limits.RATE_LIMITER} in ${PERIOD_S} s, of which ${limits.WRITE_RATE_LIMITER} writes`,
    'rejected keys per client address': `${limits.ADDRESS_RATE_LIMITER} in ${PERIOD_S} s`,
    'time for KV and D1': `${DEADLINE_MS / 1000} s in total`,
    'revocation of a key': `within about ${revocation} minutes`,
  };
  const shown = new Map((await tableRows()).map(([limit, value]) => [limit, value]));
  for (const [limit, value] of Object.entries(values)) expect(shown.get(limit)).toContain(value);
});

test('the table of operations has every operation of the description', async () => {
  const description = JSON.parse(await readDocument('public/v1/openapi.json'));
  const described = Object.values<Record<string, { operationId?: string }>>(description.paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId }) => operationId ?? []);
  const rows = (await tableRows()).filter(([, request = '']) => /^`(GET|PATCH)/.test(request));
  expect(rows.flatMap(([operations]) => quoted(operations)).sort()).toEqual(described.sort());
});

test.each([
  ['README.md', 4],
  ['docs/api.md', 16],
])('%s: every curl line, on an empty store, is answered as shown', async (name, least) => {
  const { API_KEYS } = await store.bindings();
  const record = { id: 'local', label: 'local', createdAt: '2026-11-20T00:00:00Z' };
  await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(record));
  const examples = examplesOf(await readDocument(name));
  expect(examples.length).toBeGreaterThanOrEqual(least);
  for (const { curl, shownAnswer } of examples) {
    const reply = await send(curl);
    expect(reply.status, curl).toBeLessThan(500);
    if (shownAnswer === undefined) continue;
    expect(withoutTimes(shown(reply, shownAnswer))).toBe(withoutTimes(shownAnswer));
  }
});

test.each(['README.md', 'docs/api.md', 'client/README.md'])(
  '%s has the key that npm start creates',
  async (name) => {
    const document = await readDocument(name);
    expect(/animal_local_[0-9A-Za-z]+/.exec(document)?.[0]).toBe(LOCAL_KEY);
  },
);
