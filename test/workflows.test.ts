import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };

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

  test('installs by npm run setup, and nothing but that', () => {
    expect(text).not.toMatch(/\bnpm (ci|i|install|rebuild|exec|x)\b|\bnpx\b/);
  });
});

const RELEASE = readFileSync(join(FOLDER, 'release.yml'), 'utf8');

/** The steps of each job of the release, as text. */
const JOBS = RELEASE.split(/^ {2}(?=\w+:$)/m)
  .slice(1)
  .map((job) => job.split(/^ {6}- /m).slice(1));

const holdsSecret = (step: string) => /\{\{\s*secrets\b/.test(step);

test('only steps hold secrets: every step would hold what a job or a workflow does', () => {
  const secrets = RELEASE.match(/\{\{\s*secrets\b/g) ?? [];
  expect(secrets.length).toBeGreaterThan(0);
  expect(
    JOBS.flat()
      .join('')
      .match(/\{\{\s*secrets\b/g),
  ).toEqual(secrets);
});

test('a job whose steps hold secrets installs before the first of them', () => {
  const deploying = JOBS.filter((steps) => steps.some(holdsSecret));
  expect(deploying.length).toBe(2);
  for (const steps of deploying) {
    const setup = steps.findIndex((step) => /^run: npm run setup$/m.test(step));
    expect(setup).toBeGreaterThanOrEqual(0);
    expect(setup).toBeLessThan(steps.findIndex(holdsSecret));
  }
});

test('a step that holds secrets only runs the release, which installs nothing', () => {
  const steps = JOBS.flat().filter(holdsSecret);
  expect(steps.length).toBe(3);
  for (const step of steps) expect(step).toMatch(/^(if: .*\n +)?run: npm run release -- /);
  expect(packageJson.scripts).toMatchObject({
    prerelease: 'node ops/install.mjs --check',
    release: 'node ops/release.ts',
  });
});
