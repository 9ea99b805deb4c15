// Whether the packages of package-lock.json are installed, and can be. Plain JavaScript, because a Node.js that cannot run TypeScript may run it.
import { existsSync, readFileSync } from 'node:fs';

/** Whether this is a Node.js older than 22.18, and the packaged one (ops/node), which npm prefers, is not there yet. */
export const NEEDS_NODE = !process.features.typescript;
/** Exists while a command installs the packages of this folder. */
export const LOCK = '.installing';

/** Whether each package is installed in its locked version. Only optional ones may be missing. */
export function isInstalled() {
  if (existsSync(LOCK)) return false;
  try {
    // `npm ci` first removes this list, and writes it when every package is installed.
    const installed = readPackages('node_modules/.package-lock.json');
    return Object.entries(readPackages('package-lock.json')).every(([path, locked]) => {
      // The packages of this repository need no installation.
      if (!path.includes('node_modules/') || locked.link) return true;
      // An optional package can be one for another platform.
      if (!installed[path]) return locked.optional;
      return installed[path].version === locked.version && existsSync(path);
    });
  } catch {
    // The list is missing, or was cut off by a crash or a full disk.
    return false;
  }
}

/** Fails if the variable of a proxy has no scheme. The errors of npm and wrangler would not name the variable. */
export function rejectProxy() {
  for (const name of ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']) {
    const url = process.env[name];
    if (url && !/^https?:/i.test(url)) fail(`${name} must begin with http:// or https://`);
  }
}

export function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
