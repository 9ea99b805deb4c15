/** The workflows: the lines that decide whether a step runs and what it does, and which steps see secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import fallback from '../../ops/node/package.json' with { type: 'json' };

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const workflow = read('.github/workflows/release.yml');
const [triggers = '', jobTexts = ''] = workflow.split('\njobs:\n');
const jobs = jobTexts.split(/^ {2}(?=\w+:$)/m);
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
    .map((line) => line.trim().replace(/^- /, ''))
    .filter((line) => !line.startsWith('#'));

const ALL_LINES = Object.keys(PARTS).flatMap(linesOf);

/** A known machine, limited permissions, the project's Node.js, and no token in the files. */
const STEPS_BEFORE = [
  'runs-on: ubuntu-24.04',
  'permissions:',
  'persist-credentials: false',
  expect.stringContaining('uses: actions/setup-node@'),
  'node-version-file: .node-version',
];

/** One release at a time: no release is killed by the next one, and none that waits is dropped. */
const ONE_AT_A_TIME = ['group: release', 'cancel-in-progress: false', 'queue: max'];

/** Of each part: without one of these lines, a step runs when it must not, does not run when it must, or does something else. */
const DECIDING: Record<string, string[]> = {
  'check.yml': [
    'pull_request:',
    'merge_group:',
    // Releases are checked by the same steps.
    'workflow_call:',
    'timeout-minutes: 45',
    ...STEPS_BEFORE,
    // HEAD^1 exists, and before a merge it is main: a database may have run its migrations.
    'fetch-depth: 2',
    "if: github.event_name != 'push'",
    'run: git diff --exit-code --diff-filter=a HEAD^1 -- migrations',
    'run: pipx run zizmor==1.32.0 --offline --min-severity medium .github',
    'run: .ci/run',
  ],
  // Only main is released, and people promote.
  'release.yml': ['branches: [main]', 'workflow_dispatch:'],
  // A promotion does not wait for tests.
  check: ["if: github.event_name == 'push'", 'uses: ./.github/workflows/check.yml'],
  staging: [
    'needs: check',
    'timeout-minutes: 45',
    'environment: staging',
    ...ONE_AT_A_TIME,
    ...STEPS_BEFORE,
    'fetch-depth: 0',
    'run: npm ci',
    // A copy that is not set up yet releases nothing, and does not fail.
    'id: account',
    'if grep -q \'"staging-account-id"\' wrangler.toml; then',
    'if: steps.account.outputs.exists',
    // The undo needs the rest of the time of the job.
    'timeout-minutes: 25',
    // A cancellation reaches it by `exec`.
    'run: exec node ops/release.ts staging --id "$ID"',
    // Also after a failure: the release may not have been able to go back.
    'if: failure() || cancelled()',
    // The last call of the killed release may still take effect.
    'run: sleep 60 && exec node ops/release.ts undo staging "$ID"',
  ],
  tested: [
    "if: github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main'",
    'timeout-minutes: 5',
    // The commit that the reviewer sees.
    'commit: <steps.staging.outputs.commit>',
    'id: staging',
    // The newest that staging has accepted.
    'gh run list --repo "$REPOSITORY" --workflow release.yml --limit 200 --json headSha,headBranch,event,conclusion,createdAt --jq \\',
    '\'map(select(.event == "push" and .headBranch == "main" and .conclusion == "success")) | max_by(.createdAt) // empty | "commit=\\(.headSha)"\' |',
    'tee "$GITHUB_OUTPUT" "$GITHUB_STEP_SUMMARY"',
    'grep -q \'^commit=\' "$GITHUB_OUTPUT"',
  ],
  promote: [
    'needs: tested',
    'timeout-minutes: 60',
    // The review.
    'environment: production',
    ...ONE_AT_A_TIME,
    ...STEPS_BEFORE,
    // Not the newest commit.
    'ref: <needs.tested.outputs.commit>',
    'fetch-depth: 0',
    'run: git merge-base --is-ancestor "$COMMIT" origin/main',
    'run: npm ci',
    'timeout-minutes: 40',
    // Nobody answers, and the undo finds it by its id.
    'run: exec node ops/release.ts promote --yes --id "$ID"',
    'if: failure() || cancelled()',
    'run: sleep 60 && exec node ops/release.ts undo production "$ID"',
  ],
};

test.each(Object.entries(DECIDING))('%s has the lines that decide', (part, lines) => {
  expect(linesOf(part)).toEqual(expect.arrayContaining(lines));
});

test('no other condition decides whether a step runs, and no failure is ignored', () => {
  const known = Object.values(DECIDING).flat();
  const conditions = ALL_LINES.filter((line) => /^(if|continue-on-error):/.test(line));
  expect(conditions.filter((line) => !known.includes(line))).toEqual([]);
});

const ID = 'ID: <github.run_id>-<github.run_attempt>';
const TOKEN = 'CLOUDFLARE_API_TOKEN: <secrets.CLOUDFLARE_API_TOKEN>';
/** A release and its undo have one id. */
const RELEASE = [ID, TOKEN, 'SMOKE_API_KEY: <secrets.SMOKE_API_KEY>', ID, TOKEN];

test.each(
  Object.entries({
    'check.yml': ['contents: read'],
    'release.yml': ['permissions: {}'],
    check: ['contents: read'],
    staging: ['contents: read', ...RELEASE],
    tested: ['actions: read', 'GH_TOKEN: <github.token>'],
    promote: ['contents: read', ...RELEASE],
  }),
)('%s has no other permission, token, secret or id of a release than %j', (part, granted) => {
  const grants = /^permissions: .|: (read|write)$|secrets|\.token|^ID:/;
  expect(linesOf(part).filter((line) => grants.test(line))).toEqual(granted);
});

test('only the releases see secrets', () => {
  const secret = stepsOf(workflow).filter((step) => step.includes('secrets.'));
  for (const step of secret) expect(step).toContain('ops/release.ts');
});

test('the packaged Node.js for each platform is the one of CI', () => {
  const versions = new Set(Object.values(fallback.optionalDependencies));
  expect([...versions]).toEqual([read('.node-version').trim()]);
});
