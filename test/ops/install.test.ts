/** `npm run setup` in a fresh clone. install.kill.ts has the rest. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { freshClone } from './fake-npm.ts';

test('the set-up of a fresh clone says that it works, and installs the packages, once', async () => {
  const clone = await freshClone();
  const { code, stdout, stderr } = await clone.setUp();
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toMatch(/^Installing .* …\n$/);
  const call =
    'ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --loglevel=error\n';
  expect(readFileSync(clone.path('calls'), 'utf8')).toBe(call);
  // The next command has nothing to do, also beside a secret.
  expect(await clone.setUp({ SMOKE_API_KEY: 'key' })).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(clone.calls()).toEqual(['ci']);
});

test('pnpm install and yarn install show "use npm"', () => {
  expect(packageJson.engines).toMatchObject({ pnpm: 'use npm', yarn: 'use npm' });
});
