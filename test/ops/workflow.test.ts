/** CI: what runs, when, and what sees secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import fallback from '../../ops/node/package.json' with { type: 'json' };

/** Without comments, and without the `$` of expressions, which a linter takes for templates. */
const read = (path: string) =>
  readFileSync(join(PROJECT_ROOT, path), 'utf8')
    .replaceAll(/^ *#.*\n/gm, '')
    .replaceAll('${{', '{{');
const check = read('.github/workflows/check.yml');
const release = read('.github/workflows/release.yml');
const both = check + release;

test('checks run for each change, and compare its migrations with those of its base', () => {
  // A base that is edited, too.
  const pulls = 'pull_request:\n    types: [opened, synchronize, reopened, edited]';
  expect(check).toContain(`\non:\n  ${pulls}\n  merge_group:\n  workflow_call:\n\n`);
  expect(check.match(/(?<=run: ).*/g)).toEqual([
    'git diff --exit-code --diff-filter=a HEAD^1 -- migrations',
    'node ops/check-lock.mjs',
    expect.stringMatching(/^pipx run zizmor==\S+ --offline --min-severity medium \.github$/),
    '.ci/run',
  ]);
  expect(read('.ci/run').match(/.*\b(?:set|node|npm) .*/g)).toEqual([
    'set -euo pipefail',
    // Before anything of a package runs.
    'node ops/check-lock.mjs',
    'npm ci',
    'node ops/check-lock.mjs --installed',
    'npm run check',
    'npm test',
    'npm run test:slow',
    '  CHROMIUM="$(command -v chromium)" npm run test:browser',
  ]);
});

test('only checked pushes to main reach staging, and main production, one after the other', () => {
  expect(release).toContain('\non:\n  push:\n    branches: [main]\n  workflow_dispatch:\n\n');
  const settings =
    /\b(?:if|needs|environment|[A-Z_]+|timeout.*|group|cancel.*|queue|fetch.*|persist.*|node-.*): .*/g;
  const environment = "{{ github.event_name == 'push' && 'staging' || 'production' }}";
  expect(both.match(settings)).toEqual([
    'timeout-minutes: 45',
    'fetch-depth: 2',
    'persist-credentials: false',
    'node-version-file: .node-version',
    "if: github.event_name != 'push'",
    "if: github.event_name == 'push'",
    'needs: check',
    "if: {{ !cancelled() && (needs.check.result == 'success' || github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main') }}",
    'timeout-minutes: 40',
    `environment: ${environment}`,
    'group: release',
    'cancel-in-progress: false',
    'queue: max',
    `ENVIRONMENT: ${environment}`,
    'fetch-depth: 0',
    'persist-credentials: false',
    'node-version-file: .node-version',
    'CLOUDFLARE_API_TOKEN: {{ secrets.CLOUDFLARE_API_TOKEN }}',
    'SMOKE_API_KEY: {{ secrets.SMOKE_API_KEY }}',
  ]);
});

test('only the last step sees secrets, and no workflow may write', () => {
  const [before = '', last] = release.split('      - run: |\n');
  expect(before).toMatch(/\n {6}- run: npm ci\n$/);
  expect(before).not.toContain('secrets.');
  expect(last?.split('        env:')[0]).toBe(
    `          if [ "$ENVIRONMENT" = production ]; then exec node ops/release.ts promote --yes; fi
          if grep '"staging-account-id"' wrangler.toml; then exit; fi
          exec node ops/release.ts staging
`,
  );
  const permissions = both.match(/(?<=permissions:\s*)\S.*/g);
  expect(permissions).toEqual(['contents: read', '{}', 'contents: read', 'contents: read']);
  expect(both).not.toMatch(/: write$|continue-on-error/m);
});

test('actions are pinned by commit, and new versions wait a week', () => {
  const used = both.match(/(?<=uses: )(?!\.\/).*/g);
  expect(used).toEqual(Array(4).fill(expect.stringMatching(/^\S+@[0-9a-f]{40} # v[\d.]+$/)));
  expect(read('.github/dependabot.yml').match(/default-days: 7$/gm)).toHaveLength(2);
});

test('the packaged Node.js for each platform is the one of CI', () => {
  const versions = new Set(Object.values(fallback.optionalDependencies));
  expect([...versions]).toEqual([read('.node-version').trim()]);
});
