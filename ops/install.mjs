// The first step of `npm start` and `npm test`: installs the packages of package-lock.json, unless they are installed.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm writes its list of installed packages last.
if (timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json')) {
  console.log('Installing the packages, which can take minutes …');
  // npm 10 links the packaged Node.js (ops/node) only when it rebuilds: https://github.com/npm/cli/issues/4362
  const command = 'npm ci --loglevel=error && npm rebuild --loglevel=error';
  process.exitCode = spawnSync(command, { shell: true, stdio: 'inherit' }).status ?? 1;
}
