import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSize, MAX_KIB } from '../../ops/check-bundle.ts';
import { runInProcess } from '../support/command.ts';

/** Runs the command, whose builds have these contents. */
const check = (staging: string, production: string) =>
  runInProcess(
    'check-bundle.ts',
    {
      '../../ops/command/project-root.ts': { PROJECT_ROOT: '/project' },
      '../../ops/command/wrangler.ts': { runWrangler: async () => '' },
      'node:fs/promises': {
        readFile: async (path: string) =>
          Buffer.from(path.includes('staging') ? staging : production),
      },
    },
    [],
  );

test('the bundles of both environments must be the same, and their size is printed', async () => {
  const stdout = `index.js: 0.0 KiB gzip, maximum ${MAX_KIB.toFixed(1)}\n`;
  expect(await check('a', 'a')).toEqual({ code: 0, stdout, stderr: '' });
  const stderr = 'error: the bundles of staging and production must be the same\n';
  expect(await check('a', 'b')).toEqual({ code: 1, stdout: '', stderr });
});

/** A bundle of about this size after gzip, and of twice that before. */
function bundle(kib: number): Buffer {
  const size = Math.round(kib * 1024);
  return Buffer.concat([randomBytes(size - 200), Buffer.alloc(size)]);
}

test('the error of a bundle beyond the maximum size names the limit and the fix', () => {
  expect(checkSize(bundle(MAX_KIB))).toMatch(/^index\.js: \d+\.\d KiB gzip, maximum \d+\.\d$/);
  expect(() => checkSize(bundle(MAX_KIB + 1))).toThrow(
    /maximum \d+\.\d\. Remove .* or raise MAX_KIB in ops\/check-bundle\.ts/,
  );
});
