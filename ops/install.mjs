// The first step of `npm start` and `npm test`: installs the packages of package-lock.json, unless
// they are installed.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm writes its list of installed packages last, even if the download of the packaged Node.js has
// failed: then an older one, which cannot run TypeScript, runs this file.
const isStale = timeOf('node_modules/.package-lock.json') < timeOf('package-lock.json');
if (isStale || !process.features.typescript) {
  console.log('Installing the packages, which can take minutes …');
  // Ctrl-C stops npm. Without a listener, this process would not wait for its end.
  process.on('SIGINT', () => {});
  // npm 10 links the packaged Node.js (ops/node) only when it rebuilds:
  // https://github.com/npm/cli/issues/4362
  process.exitCode = runNpm('ci') || runNpm('rebuild');
}

/**
 * Runs npm by the Node.js that runs it now. By the packaged one, which is first in the PATH of a
 * script, npm would remove that package as not needed.
 */
function runNpm(command) {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  return spawnSync(node, [npm, command, '--loglevel=error'], { stdio: 'inherit' }).status ?? 1;
}
