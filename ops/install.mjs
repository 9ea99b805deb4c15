// `npm run setup`, before any command that needs what is installed: installs what package-lock.json says,
// unless that was done. `npm install` by itself asks the registry even when nothing is missing, and
// waits for minutes where there is no network. Plain JavaScript: it runs before the project's Node is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const STAMP = 'node_modules/.installed';

const wanted = createHash('sha256');
for (const file of ['package.json', 'package-lock.json', 'client/package.json'])
  wanted.update(readFileSync(file));
const digest = wanted.digest('hex');

if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== digest) {
  // --include=dev: also where NODE_ENV is "production". --no-save: the lock file is left as it is.
  const options = ['--include=dev', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  if (!npm) throw new Error('run it through npm: npm run setup');
  const { status } = spawnSync(process.execPath, [npm, 'install', ...options], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(STAMP, digest);
}
