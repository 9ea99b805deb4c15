/** The workflows: the lines that decide whether a step runs and what it does, and which steps see secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import packageJson from '../../package.json' with { type: 'json' };

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const workflow = read('.github/workflows/release.yml');
const [triggers = '', jobTexts = ''] = workflow.split('\njobs:\n');
const jobs = jobTexts.split(/^ {2}(?=\w+:$)/m).filter((text) => text.trim() !== '');
const stepsOf = (text: string) => text.split(/^ {6}- /m).slice(1);

/** Text by name: the whole of check.yml, the triggers of release.yml, and each of its jobs. */
const PARTS: Record<string, string> = {
  'check.yml': read('.github/workflows/check.yml'),
  'release.yml': triggers,
  ...Object.fromEntries(jobs.map((text) => [text.split(':')[0], text])),
};

/** The lines of a part, with `<…>` for an expression. */
const linesOf = (part: string) =>
  (PARTS[part] ?? '')
    .replaceAll(/\$\{\{ (.+?) \}\}/g, '<$1>')
    .split('\n')
    .map((line) => line.trim().replace(/^- /, ''));

/** Without one of these lines, a step runs when it must not, does not run when it must, or does something else. */
const DECIDING: [part: string, line: string, why: string][] = [
  ['check.yml', 'pull_request:', 'pull requests are checked'],
  ['check.yml', 'workflow_call:', 'releases are checked by the same steps'],
  ['check.yml', 'timeout-minutes: 45', 'a test that hangs ends'],
  ['check.yml', 'fetch-depth: 2', 'HEAD^1 exists'],
  ['check.yml', "if: github.event_name == 'pull_request'", 'there, HEAD^1 is main'],
  [
    'check.yml',
    'run: git diff --exit-code --diff-filter=MDR HEAD^1 -- migrations',
    'a database may have run it',
  ],
  [
    'check.yml',
    'run: pipx run zizmor==1.32.0 --offline --min-severity medium .github',
    'the rules of workflows',
  ],
  ['check.yml', 'run: .ci/run', 'all tests, not only npm test'],

  ['release.yml', 'branches: [main]', 'only main is released'],
  ['release.yml', 'workflow_dispatch:', 'people promote'],

  ['check', "if: github.event_name == 'push'", 'a promotion does not wait for tests'],
  ['check', 'uses: ./.github/workflows/check.yml', 'the checks of a pull request'],

  ['staging', 'needs: check', 'untested code is not released'],
  ['staging', 'timeout-minutes: 30', 'a release that hangs frees the group'],
  ['staging', 'environment: staging', 'the secrets of staging'],
  ['staging', 'group: release', 'one release at a time'],
  ['staging', 'cancel-in-progress: false', 'a release is not killed by the next'],
  ['staging', 'queue: max', 'a waiting promotion is not dropped'],
  ['staging', 'run: npm run setup', 'installs packages without their scripts'],
  ['staging', 'id: release', 'the condition of the undo'],
  [
    'staging',
    'run: exec node ops/release.ts staging --id "$ID"',
    'exec: a cancellation reaches it',
  ],
  [
    'staging',
    "if: cancelled() && steps.release.outcome == 'cancelled'",
    'a failed release goes back itself',
  ],
  [
    'staging',
    'run: sleep 60 && exec node ops/release.ts undo staging "$ID"',
    'sleep: the last call of the killed release may still take effect',
  ],

  [
    'tested',
    "if: github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main'",
    'not by a push, not from another branch',
  ],
  ['tested', 'timeout-minutes: 5', 'one query'],
  ['tested', 'commit: <steps.staging.outputs.commit>', 'the commit that the reviewer sees'],
  ['tested', 'id: staging', 'the output above'],
  [
    'tested',
    'gh run list --repo "$REPOSITORY" --workflow release.yml --branch main --event push --status success \\',
    'only what staging has accepted',
  ],
  [
    'tested',
    '--limit 1 --json headSha --jq \'.[] | "commit=\\(.headSha)"\' | tee "$GITHUB_OUTPUT" "$GITHUB_STEP_SUMMARY"',
    'the newest',
  ],
  ['tested', 'grep -q \'^commit=\' "$GITHUB_OUTPUT"', 'none was found: the job fails'],

  ['promote', 'needs: tested', 'nothing else may be promoted'],
  ['promote', 'timeout-minutes: 60', 'a promotion that hangs frees the group'],
  ['promote', 'environment: production', 'the review, and the secrets of production'],
  ['promote', 'group: release', 'one release at a time'],
  ['promote', 'cancel-in-progress: false', 'a promotion is not killed by the next release'],
  ['promote', 'queue: max', 'an approved promotion is not dropped'],
  ['promote', 'ref: <needs.tested.outputs.commit>', 'the reviewed commit, not the newest'],
  ['promote', 'fetch-depth: 0', 'the history of main'],
  ['promote', 'run: git merge-base --is-ancestor "$COMMIT" origin/main', 'only commits of main'],
  ['promote', 'run: npm run setup', 'installs packages without their scripts'],
  ['promote', 'id: promote', 'the condition of the undo'],
  [
    'promote',
    'run: exec node ops/release.ts promote --yes --id "$ID"',
    'exec: a cancellation reaches it; --yes: nobody answers; --id: the undo finds it',
  ],
  ['promote', "if: cancelled() && steps.promote.outcome == 'cancelled'", 'as on staging'],
  ['promote', 'run: sleep 60 && exec node ops/release.ts undo production "$ID"', 'as on staging'],
];

test.each(DECIDING)('%s has the line "%s" (%s)', (part, line) => {
  expect(linesOf(part)).toContain(line);
});

test('no other condition decides whether a step runs, and no failure is ignored', () => {
  const known = DECIDING.map(([, line]) => line);
  const lines = Object.keys(PARTS).flatMap(linesOf);
  const conditions = lines.filter((line) => /^(if|continue-on-error):/.test(line));
  expect(conditions.filter((line) => !known.includes(line))).toEqual([]);
});

test.each(['staging', 'promote'])('in the job %s, a release and its undo have one id', (job) => {
  const id = 'ID: <github.run_id>-<github.run_attempt>';
  expect(linesOf(job).filter((line) => line === id)).toHaveLength(2);
});

test('only the releases see secrets', () => {
  const secret = stepsOf(workflow).filter((step) => step.includes('secrets.'));
  expect(secret).toHaveLength(4);
  for (const step of secret) expect(step).toContain('ops/release.ts');
});

test('packages are installed only by npm run setup, which runs none of their scripts', () => {
  const installations = stepsOf(workflow).filter((step) => step.includes('run: npm'));
  for (const step of installations) expect(step).toMatch(/^run: npm run setup\n/);
});

test('CI runs every script that tests', () => {
  const ci = read('.ci/run');
  const scripts = Object.keys(packageJson.scripts).filter((name) => name.startsWith('test:'));
  const run = Array.from(ci.matchAll(/npm run (test:\w+)/g), ([, name]) => name);
  expect(run.sort()).toEqual(scripts.sort());
  expect(ci).toMatch(/^npm run check\nnpm test$/m);
});
