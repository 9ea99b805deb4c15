import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { MAX_BYTES } from '../../ops/check-bundle.ts';
import { runInProcess } from '../support/command.ts';

/** Runs the command, whose builds have these contents. */
const check = (staging: Buffer, production = staging) =>
  runInProcess(
    'check-bundle.ts',
    {
      '../../ops/command/project-root.ts': { PROJECT_ROOT: '/project' },
      '../../ops/command/wrangler.ts': { runWrangler: async () => '' },
      'node:fs/promises': {
        readFile: async (path: string) => (path.includes('staging') ? staging : production),
      },
    },
    [],
  );

/** A bundle of about this size after gzip, which is larger before. */
const bundle = (bytes: number) => Buffer.concat([randomBytes(bytes - 80), Buffer.alloc(9_999)]);

test('the bundles of both environments must be the same, and not too large', async () => {
  const largest = bundle(MAX_BYTES - 100);
  expect(await check(largest)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^index\.js: \d+ bytes gzip, maximum \d+\n$/),
  });
  expect(await check(largest, bundle(MAX_BYTES - 100))).toMatchObject({
    code: 1,
    stderr: 'error: the scripts of staging and production must be the same\n',
  });
  expect(await check(bundle(MAX_BYTES + 1_000))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      '. Remove a dependency or code, or raise MAX_BYTES in ops/check-bundle.ts',
    ),
  });
});
