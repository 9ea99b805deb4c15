import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';

const FOLDER = join(PROJECT_ROOT, '.github/workflows');

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8');

  test('uses other people’s actions by their SHA', () => {
    const used = [...text.matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) {
      expect(action).toMatch(
        /^(\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v[0-9.]+)$/,
      );
    }
  });

  test('may read, and write nothing', () => {
    expect(text).toMatch(/^permissions:/m);
    expect(text).not.toMatch(/: write\b|write-all/);
  });

  test('puts nothing of an event or a secret into a script', () => {
    const scripts = [...text.matchAll(/^ *(?:- )?run: (?:[>|]-?\n(?: {10}.*\n)+|.*)/gm)].map(
      ([run]) => run,
    );
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).not.toContain('${{');
  });
});
