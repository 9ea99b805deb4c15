/** CI: what runs, when, and what sees secrets. There, zizmor finds actions that are not pinned. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import fallback from '../../ops/node/package.json' with { type: 'json' };
import { scripts } from '../../package.json' with { type: 'json' };

/** Without the `$` of expressions, which a linter takes for templates. */
const read = (path: string) => readFileSync(path, 'utf8').replaceAll('${{', '{{');
const release = read('.github/workflows/release.yml');
const both = read('.github/workflows/check.yml') + release;

test('checks compare the migrations with those of the base, and run nothing of a bad package', () => {
  expect(both.match(/(?<=run: )[^|\n]+/g)).toEqual([
    'git diff --exit-code --diff-filter=a HEAD^1 -- migrations',
    'node ops/check-lock.mjs',
    expect.stringMatching(/^pipx run zizmor==\S+ --offline --min-severity medium \.github$/),
    '.ci/run',
    // While no secret is there.
    'npm ci',
  ]);
  expect(read('.ci/run').match(/.*\b(?:set|node|npm) .*/g)).toEqual([
    'set -euo pipefail',
    'node ops/check-lock.mjs',
    'npm ci',
    'node ops/check-lock.mjs --installed',
    'npm run check',
    'npm test',
    'npm run test:slow',
    '  CHROMIUM="$(command -v chromium)" npm run test:browser',
  ]);
  expect(scripts.check).toContain(' && npm run openapi -- --check && ');
});

test('only checked pushes to main reach staging, and main production, one after the other', () => {
  const settings =
    /(?<=^ *)(?:branches|if|needs|environment|group|cancel.*|queue|runs-on|types|fetch.*): .*/gim;
  expect(both.match(settings)).toEqual([
    'types: [opened, synchronize, reopened, edited]',
    'runs-on: ubuntu-24.04',
    'fetch-depth: 2',
    "if: github.event_name != 'push'",
    'branches: [main]',
    "if: github.event_name == 'push'",
    'needs: check',
    "if: {{ !cancelled() && (needs.check.result == 'success' || github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main') }}",
    'runs-on: ubuntu-24.04',
    "environment: {{ github.event_name == 'push' && 'staging' || 'production' }}",
    'group: release',
    'cancel-in-progress: false',
    'queue: max',
    "ENVIRONMENT: {{ github.event_name == 'push' && 'staging' || 'production' }}",
    'fetch-depth: 0',
  ]);
});

test('only the last step sees secrets, and no workflow may write', () => {
  const [before, last] = release.split('- run: |\n');
  expect(before).not.toContain('secrets.');
  expect(last?.match(/\S.*/g)).toEqual([
    'if [ "$ENVIRONMENT" = production ]; then exec node ops/release.ts promote --yes; fi',
    `if grep '"staging-account-id"' wrangler.toml; then exit; fi`,
    'exec node ops/release.ts staging',
    'env:',
    'CLOUDFLARE_API_TOKEN: {{ secrets.CLOUDFLARE_API_TOKEN }}',
    'SMOKE_API_KEY: {{ secrets.SMOKE_API_KEY }}',
  ]);
  // By default, `git` of a later step could read the token of a checkout.
  const token = 'persist-credentials: false';
  // A release that ends early does not go back.
  const limits = ['timeout-minutes: 45', token, 'timeout-minutes: 40', token];
  expect(both.match(/(?:timeout|persist)-.*/g)).toEqual(limits);
  const permissions = both.match(/(?<=permissions:\s*)\S.*/g);
  expect(permissions).toEqual(['contents: read', '{}', 'contents: read', 'contents: read']);
  expect(both).not.toMatch(/: write$|continue-on-error/m);
});

test('the packaged Node.js for each platform is the one of CI', () => {
  const versions = new Set(Object.values(fallback.optionalDependencies));
  expect([...versions]).toEqual([read('.node-version').trim()]);
});
