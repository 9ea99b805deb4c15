/** The documents name only files, headings, scripts and tests that exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };

const documents = globSync(['*.md', 'docs/*.md', 'client/*.md'], { cwd: PROJECT_ROOT });

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): string[] {
  return Array.from(read(document).matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The relative links of a document: the file that each leads to, and its anchor or ''. */
function linksOf(document: string): { file: string; anchor: string }[] {
  return Array.from(read(document).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g))
    .map(([, path = '', anchor = '']) => ({ path, anchor }))
    .map(({ path, anchor }) => ({
      file: path === '' ? document : join(dirname(document), path),
      anchor,
    }));
}

describe.each(documents)('%s', (document) => {
  test('links to files that exist', () => {
    const missing = linksOf(document).filter(({ file }) => !existsSync(join(PROJECT_ROOT, file)));
    expect(missing).toEqual([]);
  });

  test('links to headings that exist', () => {
    const missing = linksOf(document)
      .filter(({ anchor }) => anchor !== '')
      .filter(({ file, anchor }) => !anchorsOf(file).includes(anchor));
    expect(missing).toEqual([]);
  });

  test('names scripts that exist', () => {
    const named = Array.from(
      read(document).matchAll(/npm run (?:-+\w+ )*([a-z][\w:]*)/g),
      ([, script]) => script,
    );
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(named));
  });
});

test('SECURITY.md names tests that exist', () => {
  const named = Array.from(
    read('SECURITY.md').matchAll(/`([\w/.-]+\.(?:test|browser)\.ts|[\w/]+\/)`/g),
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(PROJECT_ROOT, 'test', path)))).toEqual([]);
});
