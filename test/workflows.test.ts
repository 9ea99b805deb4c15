import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import packageJson from '../package.json' with { type: 'json' };

const FOLDER = join(PROJECT_ROOT, '.github/workflows');

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8');

  test('pins third-party actions by commit', () => {
    const used = [...text.matchAll(/^ *(?:- )?uses: (.*)$/gm)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) {
      expect(action).toMatch(
        /^(\.\/\.github\/workflows\/\w+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v[0-9.]+)$/,
      );
    }
  });

  test('has read permissions only', () => {
    expect(text).toMatch(/^permissions:/m);
    expect(text).not.toMatch(/: write\b|write-all/);
  });

  test('has no expression in a script, where an event or a secret could inject code', () => {
    const scripts = [...text.matchAll(/^ *(?:- )?run: (?:[>|]-?\n(?: {10}.*\n)+|.*)/gm)].map(
      ([run]) => run,
    );
    expect(scripts.length).toBeGreaterThan(0);
    for (const script of scripts) expect(script).not.toContain('${{');
  });

  test('installs packages with npm ci or npm run setup only', () => {
    expect(text).not.toMatch(/\bnpm (i|install|rebuild|exec|x)\b|\bnpx\b/);
  });
});

const RELEASE = readFileSync(join(FOLDER, 'release.yml'), 'utf8');

/** The jobs of the release by name, as text. */
const JOBS = Object.fromEntries(
  RELEASE.split(/^ {2}(?=\w+:$)/m)
    .slice(1)
    .map((job) => [job.slice(0, job.indexOf(':')), job]),
);
const stepsOf = (job = '') => job.split(/^ {6}- /m).slice(1);
const DEPLOYING = [JOBS.staging, JOBS.promote, JOBS.rollback];

test('secrets are set for single steps, never for a whole job or workflow', () => {
  const secrets = RELEASE.match(/\{\{\s*secrets\b/g) ?? [];
  const inSteps = Object.values(JOBS).flatMap(stepsOf).join('');
  expect(secrets.length).toBe(8);
  expect(inSteps.match(/\{\{\s*secrets\b/g)).toEqual(secrets);
});

test('a job with secrets installs packages before the first step that has one', () => {
  for (const job of DEPLOYING) {
    const steps = stepsOf(job);
    const setup = steps.findIndex((step) => /^run: npm ci$/m.test(step));
    expect(setup).toBeGreaterThanOrEqual(0);
    expect(setup).toBeLessThan(steps.findIndex((step) => step.includes('secrets.')));
  }
});

test('a step with secrets only runs the release, which installs nothing', () => {
  const steps = DEPLOYING.flatMap(stepsOf).filter((step) => step.includes('secrets.'));
  expect(steps.map((step) => /^ *run: (.*)$/m.exec(`  ${step}`)?.[1])).toEqual([
    'npm run release -- staging',
    'npm run release -- promote --yes --commit "$COMMIT"',
    'npm run release -- rollback unfinished --env production --yes',
    'npm run release -- rollback "$VERSION" --env production --yes',
  ]);
  // Setup installs nothing while packages are there.
  expect(packageJson.scripts.release).toBe('npm run setup --silent && node ops/release/index.ts');
});

test('jobs that deploy have the whole history, their environment, and one release at a time', () => {
  for (const [job, environment] of [
    [JOBS.staging, 'staging'],
    [JOBS.promote, 'production'],
  ]) {
    expect(job).toMatch(/^ {10}fetch-depth: 0$/m);
    expect(job).toMatch(new RegExp(`^ {4}environment: ${environment}$`, 'm'));
    // Without queue: max, the next push cancels an approved promotion that waits.
    const group =
      'concurrency:\n      group: release\n      cancel-in-progress: false\n      queue: max\n';
    expect(job).toContain(group);
  }
});

test('production returns only from a promotion that was cut short, not from one that was rejected', () => {
  const steps = stepsOf(JOBS.promote);
  expect(steps.at(-2)).toMatch(/^id: promote\n/);
  expect(steps.at(-1)).toMatch(
    /^if: cancelled\(\) && steps\.promote\.outcome == 'cancelled'\n +run: npm run release -- rollback unfinished --env production --yes\n/,
  );
  expect(RELEASE).not.toMatch(/failure\(\)|always\(\)/);
});

test('the whole check, the release tests among it, runs before a release', () => {
  expect(JOBS.check).toContain('uses: ./.github/workflows/check.yml');
  expect(JOBS.staging).toContain('needs: check');
  expect(readFileSync(join(FOLDER, 'check.yml'), 'utf8')).toMatch(/^ +- run: \.ci\/run$/m);
  expect(readFileSync(join(PROJECT_ROOT, '.ci/run'), 'utf8')).toMatch(/^npm run test:release$/m);
});

test('a script that installs packages looks Node.js up afterwards', () => {
  // A shell caches the path of `node`: on a fresh clone, that is not the project's own.
  const installing = Object.values(packageJson.scripts).filter((script) => script.includes('&&'));
  expect(installing.length).toBeGreaterThan(0);
  for (const script of installing) expect(script).toMatch(/^npm run setup --silent && [^&]+$/);
});
