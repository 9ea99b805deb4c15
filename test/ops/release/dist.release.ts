/** Builds of this clone: what an environment may still serve is built again, and what is uploaded was built here. */
import { spawnSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readTarget, uploadVersion } from '../../../ops/release/cloudflare.ts';
import { testPreviousRelease, withBuild } from '../../../ops/release/dist.ts';
import { PROJECT_ROOT } from '../../../ops/wrangler.ts';

/** The last commit of version 1.0.0. A shallow clone lacks it. */
const COMMIT = '5109b0c149f963468ad1041fb6ae439cfa504bb6';
const isHere = spawnSync('git', ['cat-file', '-e', COMMIT], { cwd: PROJECT_ROOT }).status === 0;

test.skipIf(!isHere)(
  "version 1.0.0 builds with today's packages, and runs on the migrations",
  async () => {
    const release = { commit: COMMIT, digest: '' };
    const tested = withBuild('HEAD', (head) => testPreviousRelease(release, head));
    await expect(tested).resolves.toBeUndefined();
  },
);

test('two builds of a commit have folders of their own, and a changed one is not uploaded', () =>
  withBuild('HEAD', (one) =>
    withBuild('HEAD', async (other) => {
      expect(other.digest).toBe(one.digest);
      expect(other.folder).not.toBe(one.folder);
      await appendFile(other.worker, '// changed');
      const uploaded = uploadVersion(readTarget('staging'), other, '');
      await expect(uploaded).rejects.toThrow('changed after its build');
    }),
  ));
