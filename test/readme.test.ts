import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };
import { environmentOfKey } from '../src/keys/format.ts';
import { recordName } from '../src/keys/record.ts';
import { startStore } from './store.ts';

const store = startStore();
const readme = await readFile(join(PROJECT_ROOT, 'README.md'), 'utf8');

/** The curl lines of the README in order, each with the answer that the README shows for it, if any. */
function examples(): { line: string; answer: string | undefined }[] {
  const blocks = Array.from(readme.matchAll(/```(\w+)\n(.*?)```/gs), ([, language, text = '']) => ({
    language,
    text,
  }));
  return blocks.flatMap(({ language, text }, i) => {
    if (language !== 'sh') return [];
    const lines = text.split('\n').filter((line) => line.startsWith('curl '));
    const next = blocks[i + 1];
    const answer = next?.language === 'http' ? next.text : undefined;
    return lines.map((line, j) => ({ line, answer: j === lines.length - 1 ? answer : undefined }));
  });
}

/** Sends what a curl line would send: of curl's options, `-i`, `-X`, `-H` and `-d`. */
function send(line: string) {
  const words = Array.from(
    line.matchAll(/'([^']*)'|(\S+)/g),
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  const headers: Record<string, string> = {};
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
    else if (word.startsWith('http://localhost:8787/'))
      path = word.replace('http://localhost:8787', '');
    else if (word !== '-i') throw new Error(`not understood: ${word}`);
  }
  method ??= body === undefined ? 'GET' : 'POST';
  const init = { method, ...(body !== undefined && { body }) };
  return store.fetch(path, { ...init, headers: { authorization: null, ...headers } });
}

/** The README cannot know when its orders are placed. */
function withoutTimes(text: string): string {
  return text.replaceAll(/"placedAt":"[0-9-]{10}T[0-9:.]{12}Z"/g, '"placedAt":"…"');
}

test('the changelog begins with the version of package.json', async () => {
  const changelog = await readFile(join(PROJECT_ROOT, 'CHANGELOG.md'), 'utf8');
  expect(/^## (\S+)/m.exec(changelog)?.[1]).toBe(packageJson.version);
});

test('the first local key of the README is the one that npm start seeds', () => {
  expect(/animal_local_[0-9A-Za-z]+/.exec(readme)?.[0]).toBe(LOCAL_KEY);
  expect(environmentOfKey(LOCAL_KEY)).toBe('local');
});

test('every curl line of the README, pasted in turn, is answered as the README says', async () => {
  const { API_KEYS } = await store.bindings();
  const record = { id: 'local', label: 'local', createdAt: '2026-11-20T00:00:00Z' };
  await API_KEYS.put(recordName(LOCAL_KEY), JSON.stringify(record));
  const lines = examples();
  expect(lines.length).toBeGreaterThanOrEqual(13);
  for (const { line, answer } of lines) {
    const reply = await send(line);
    expect(reply.status, line).toBeLessThan(500);
    if (!answer) continue;
    const [head = '', shownBody = ''] = answer.trimEnd().split('\n\n');
    const [statusLine = '', ...headers] = head.split('\n');
    expect(statusLine).toMatch(new RegExp(`^HTTP/1.1 ${reply.status} `));
    expect(withoutTimes(reply.text)).toBe(withoutTimes(shownBody));
    for (const header of headers) {
      const [name = '', value = ''] = header.split(/: (.*)/);
      const origin = /http:\/\/127\.0\.0\.1:[0-9]+/g;
      expect(reply.headers.get(name)?.replaceAll(origin, 'http://localhost:8787')).toBe(value);
    }
  }
});
