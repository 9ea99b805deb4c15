/** The documents that users paste from: each curl line is answered as the document shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../ops/local/store.ts';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { operationsWithout } from './contract.ts';
import { type Reply, startStore } from './store.ts';

const store = startStore();
const LOCAL_ORIGIN = 'http://localhost:8787';

const read = (name: string) => readFileSync(join(PROJECT_ROOT, name), 'utf8');

type Request = { method: string; path: string; headers: Record<string, string>; body?: string };
type Example = { request: Request; shownAnswer?: string };

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
      examples.push({ request: parseCurl(curl) });
    }
  }
  return examples;
}

/** The request of a curl line: of curl's options, `-i`, `-X`, `-H` and `-d`. */
function parseCurl(curl: string): Request {
  const words = Array.from(
    curl.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  const valuesOf = (option: string) => words.filter((_, i) => words[i - 1] === option);
  const [body] = valuesOf('-d');
  const [method = body === undefined ? 'GET' : 'POST'] = valuesOf('-X');
  const headers = Object.fromEntries(valuesOf('-H').map((header) => header.split(': ')));
  const path = words.find((word) => word.startsWith(LOCAL_ORIGIN))?.slice(LOCAL_ORIGIN.length);
  const options = words.filter((word) => word.startsWith('-'));
  expect(['-i', '-X', '-H', '-d'], curl).toEqual(expect.arrayContaining(options));
  return { method, path: path ?? '', headers, ...(body !== undefined && { body }) };
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

test.each([
  ['README.md', 3],
  ['docs/api.md', 13],
])('%s: every curl line, on an empty store, is answered as shown', async (name, least) => {
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  const examples = examplesOf(read(name));
  expect(examples.length).toBeGreaterThanOrEqual(least);
  for (const { request, shownAnswer } of examples) {
    const { path, headers, ...init } = request;
    const reply = await store.fetch(path, {
      ...init,
      headers: { authorization: null, ...headers },
    });
    expect(reply.status, path).toBeLessThan(500);
    const answer = shownAnswer === undefined ? '' : shown(reply, shownAnswer);
    expect(withoutTimes(answer)).toBe(withoutTimes(shownAnswer ?? ''));
  }
});

test('docs/api.md has an example of every operation', () => {
  const requests = examplesOf(read('docs/api.md')).map(
    ({ request: { method, path } }) => `${method} ${path}`,
  );
  expect(operationsWithout(requests).map(({ operation }) => operation.operationId)).toEqual([
    'getHealth',
  ]);
});

test.each(['README.md', 'docs/api.md', 'client/README.md'])('%s has the local key', (name) => {
  expect(/animal_local_[0-9A-Za-z]+/.exec(read(name))?.[0]).toBe(LOCAL_KEY);
});
