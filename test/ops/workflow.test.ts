/** The workflow that releases: what a cancelled run does, and which steps see secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import packageJson from '../../package.json' with { type: 'json' };

const workflow = readFileSync(join(PROJECT_ROOT, '.github/workflows/release.yml'), 'utf8');
const [, ...jobTexts] = (workflow.split('\njobs:\n')[1] ?? '').split(/^ {2}(?=\w+:$)/m);
const jobs = Object.fromEntries(['check', ...jobTexts].map((text) => [text.split(':')[0], text]));
const stepsOf = (job = '') => job.split(/^ {6}- /m).slice(1);
const releases = stepsOf(workflow).filter((step) => step.includes('ops/release.ts'));

test('releases replace the shell, so that a cancellation reaches them', () => {
  expect(releases).toHaveLength(5);
  for (const step of releases)
    expect(step).toMatch(/run: (sleep 60 && )?exec node ops\/release\.ts/);
});

test('a version that begins with a hyphen is not an option of a rollback', () => {
  expect(jobs.rollback).toMatch(
    /ops\/release\.ts rollback --env production --yes \$FORCE -- "\$VERSION"$/m,
  );
});

test('only the releases see secrets', () => {
  const secret = stepsOf(workflow).filter((step) => step.includes('secrets.'));
  expect(secret).toEqual(releases);
});

test('packages are installed only by npm run setup, which runs none of their scripts', () => {
  const installations = stepsOf(workflow).filter((step) => step.includes('run: npm'));
  expect(installations.map((step) => step.trim())).toEqual(Array(3).fill('run: npm run setup'));
});

test.each(['staging', 'promote'])(
  'the job %s goes back in a step of its own when it is cancelled',
  (job) => {
    const [release, undo] = stepsOf(jobs[job]).filter((step) => step.includes('ops/release.ts'));
    const [, id] = /^id: (\w+)/.exec(release ?? '') ?? [];
    expect(undo).toMatch(`if: cancelled() && steps.${id}.outcome == 'cancelled'`);
    for (const step of [release, undo]) expect(step).toMatch(/RUN: .*run_id.*run_attempt/);
  },
);

test('releases wait for each other, but a rollback waits for none', () => {
  for (const job of [jobs.staging, jobs.promote])
    expect(job).toMatch(
      /concurrency:\n +group: release\n +cancel-in-progress: false\n +queue: max/,
    );
  expect(jobs.rollback).not.toContain('concurrency');
});

test('each release has the secrets and the reviewers of its environment', () => {
  const environments = Object.entries<string>(jobs).flatMap(([job, text]) =>
    Array.from(text.matchAll(/^ {4}environment: (.+)$/gm), ([, name]) => `${job}: ${name}`),
  );
  expect(environments).toEqual(['staging: staging', 'promote: production', 'rollback: production']);
});

test('a pull request cannot change, delete or rename a migration', () => {
  const check = readFileSync(join(PROJECT_ROOT, '.github/workflows/check.yml'), 'utf8');
  expect(check).toContain('run: git diff --exit-code --diff-filter=MDR HEAD^1 -- migrations\n');
});

test('CI runs every script that tests', () => {
  const ci = readFileSync(join(PROJECT_ROOT, '.ci/run'), 'utf8');
  const scripts = Object.keys(packageJson.scripts).filter((name) => name.startsWith('test:'));
  const run = Array.from(ci.matchAll(/npm run (test:\w+)/g), ([, name]) => name);
  expect(run.sort()).toEqual(scripts.sort());
  expect(ci).toMatch(/^npm run check\nnpm test$/m);
});

test('only commits of main are promoted', () => {
  expect(jobs.promote).toContain('git merge-base --is-ancestor "$COMMIT" origin/main');
});
