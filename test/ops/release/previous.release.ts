/** What an environment may still serve: the next release builds it, and tests its migrations on it. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testPreviousRelease, withBuild } from '../../../ops/release/dist.ts';
import { PROJECT_ROOT } from '../../../ops/wrangler.ts';

/** The last commit of version 1.0.0. A shallow clone lacks it. */
const COMMIT = '5109b0c149f963468ad1041fb6ae439cfa504bb6';
const isHere = spawnSync('git', ['cat-file', '-e', COMMIT], { cwd: PROJECT_ROOT }).status === 0;

test.skipIf(!isHere)(
  'version 1.0.0 builds with the packages of today, and lives with the migrations',
  async () => {
    const release = { commit: COMMIT, digest: '' };
    const tested = withBuild('HEAD', (head) => testPreviousRelease(release, head));
    await expect(tested).resolves.toBeUndefined();
  },
);
