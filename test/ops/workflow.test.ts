/** The workflows: what runs, when, and what sees secrets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import fallback from '../../ops/node/package.json' with { type: 'json' };

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const check = read('.github/workflows/check.yml');
const release = read('.github/workflows/release.yml');

test('checks run for each change, and compare its migrations with those of its base', () => {
  for (const event of ['pull_request:', 'merge_group:', 'workflow_call:'])
    expect(check).toContain(`  ${event}\n`);
  // A base that is edited, too.
  expect(check).toContain('types: [opened, synchronize, reopened, edited]');
  expect(check).toContain('fetch-depth: 2');
  expect(check).toContain('git diff --exit-code --diff-filter=a HEAD^1 -- migrations');
  expect(check).toContain('run: .ci/run');
  for (const text of [check, release]) expect(text).toContain('persist-credentials: false');
});

test('only checked pushes to main reach staging, and main production, one after the other', () => {
  expect(release).toContain('branches: [main]');
  const lines = release.replaceAll('${{', '{{').match(/^ +(- if|if|needs|environment): .*/gm);
  expect(lines?.map((line) => line.trim())).toEqual([
    "if: github.event_name == 'push'",
    'needs: check',
    "if: {{ !cancelled() && (needs.check.result == 'success' || github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main') }}",
    "environment: {{ github.event_name == 'push' && 'staging' || 'production' }}",
  ]);
  expect(release).toContain('cancel-in-progress: false\n      queue: max');
});

const [before = ''] = release.split('\n      - run: |');

test('only the last step sees secrets, and no workflow may write', () => {
  expect(before).toContain('npm ci');
  expect(before).not.toContain('secrets.');
  for (const text of [check, release]) expect(text).not.toMatch(/: write$|continue-on-error/m);
  expect(release).toContain('\npermissions: {}\n');
});

test('the packaged Node.js for each platform is the one of CI', () => {
  const versions = new Set(Object.values(fallback.optionalDependencies));
  expect([...versions]).toEqual([read('.node-version').trim()]);
});
