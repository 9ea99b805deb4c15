/** The documents that users paste from: each curl line is answered as the document shows. */
import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { parseJson } from '../../src/exact-json.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

/** A line of curl, and the answer that follows it, if it is shown. */
const EXAMPLE = /^(curl (?:.*\\\n)*.*)(?:\n```\n\n```http\n([^`]*)\n```)?$/gm;
/**
 * A document cannot know when its orders are placed, and need not have the known fields of an error
 * that were added later.
 */
const VARIABLE = /(?<="placedAt":")[\d-]+T[\d:.]+Z|(?<=is not a known field: )[\w, ]+/g;

/** The lines before the body, which only `curl -i` prints, and the body as a value. */
function partsOf(answer: string) {
  const [body = '', head = ''] = answer.split('\n\n').reverse();
  const lines = Object.fromEntries(head.split('\n').map((line) => line.split(': ')));
  return { ...lines, body: parseJson(body.replaceAll(VARIABLE, '…')) };
}

test.each(['README.md', 'docs/api.md'])(
  '%s: every curl line, on an empty store, is answered as shown',
  async (name) => {
    await store.putRecord(LOCAL_KEY, { id: 'local' });
    const text = readFileSync(name, 'utf8').replaceAll('http://localhost:8787', store.url());
    const examples = Array.from(text.matchAll(EXAMPLE));
    for (const [, curl, answer] of examples) {
      const script = `${text.match(/^KEY=.*/m)}\nNO_PROXY='*' ${curl}`;
      const { stdout } = await promisify(exec)(script, { shell: 'sh' });
      const reply = stdout.replaceAll('\r', '');
      // A document need not have fields that were added later.
      if (answer) expect(partsOf(reply)).toMatchObject(partsOf(answer));
      else expect(reply).toMatch(/^HTTP\/1\.1 2/);
    }
    const answers = examples.flatMap(([, , answer]) => answer ?? []);
    expect(answers).toHaveLength(text.match(/^```http$/gm)?.length ?? 0);
  },
);
