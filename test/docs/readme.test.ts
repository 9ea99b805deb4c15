/** The documents that users paste from: each curl line is answered as the document shows. */
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { parseArgs } from 'node:util';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { parseJson } from '../../src/exact-json.ts';
import { type Reply, startStore } from '../support/store.ts';

const store = startStore();
const LOCAL_ORIGIN = 'http://localhost:8787';

/** A document cannot know when its orders are placed. */
const PLACED_AT = '2026-11-20T09:30:00.000Z';
/**
 * The known fields in the message of an error. A document need not have those that were added
 * later.
 */
const KNOWN_FIELDS = /(?<=is not a known field: )[\w, ]+/g;

/**
 * The curl lines of a document in its order, each with the answer that follows it, if it is shown.
 */
function examplesOf(name: string) {
  const document = readFileSync(name, 'utf8');
  const [, key = ''] = /^KEY=(\S+)$/m.exec(document) ?? [];
  const examples: { request: ReturnType<typeof parseCurl>; answer?: string }[] = [];
  for (const [, language, text = ''] of document.matchAll(/^```(sh|http)\n(.*?)\n```/gms)) {
    const last = examples.at(-1);
    if (language === 'http' && last) last.answer = text;
    // Only those of the local store.
    for (const [curl] of text.matchAll(/^curl (?!.*https:)(?:.*\\\n)*.*$/gm))
      examples.push({ request: parseCurl(curl.replace('$KEY', key)) });
  }
  return examples;
}

/** Rejects options of curl that are not here. */
const OPTIONS = {
  include: { short: 'i', type: 'boolean' },
  request: { short: 'X', type: 'string' },
  header: { short: 'H', type: 'string', multiple: true },
  data: { short: 'd', type: 'string' },
  'write-out': { short: 'w', type: 'string' },
} as const;

function parseCurl(curl: string) {
  const [, ...args] = Array.from(
    curl.replaceAll('\\\n', '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const { data: body, request: method = body ? 'POST' : 'GET', header = [] } = values;
  const headers = Object.fromEntries(header.map((line) => line.split(': ')));
  const path = positionals.join().replace(LOCAL_ORIGIN, '');
  return { path, method, headers, ...(body && { body }) };
}

/** A reply in the form of the documents, with the headers that the answer shows. */
function format({ status, headers, text }: Reply, answer = '') {
  const names = answer.match(/^[\w-]+(?=: )/gm) ?? [];
  const shown = names.map((name) => `${name}: ${headers.get(name)}\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\n${shown}\n${text}`
    .replaceAll(store.url(), LOCAL_ORIGIN)
    .replaceAll(/(?<="placedAt":")[^"]+/g, PLACED_AT);
}

/** Of a request whose answer is not shown. */
const SUCCESS = { head: expect.stringMatching(/^HTTP\/1\.1 2/) };

/** The lines before the body, which a console does not show, and the body as a value. */
function partsOf(answer: string) {
  const [head = '', body = ''] = answer.startsWith('HTTP') ? answer.split('\n\n') : ['', answer];
  const value = body && parseJson(body.replaceAll(KNOWN_FIELDS, '…'));
  return { ...(head && { head }), ...(body && { body: value }) };
}

test.each(['README.md', 'docs/api.md'])(
  '%s: every curl line, on an empty store, is answered as shown',
  async (name) => {
    await store.putRecord(LOCAL_KEY, { id: 'local' });
    const examples = examplesOf(name);
    for (const { request, answer } of examples) {
      const { path, headers, ...init } = request;
      const reply = await store.fetch(path, { ...init, headers, key: null });
      const shown = partsOf(format(reply, answer));
      // A document need not have fields that were added later.
      expect(shown).toMatchObject(answer ? partsOf(answer) : SUCCESS);
    }
    expect(examples.filter(({ answer }) => answer).length).toBeGreaterThan(1);
  },
);
