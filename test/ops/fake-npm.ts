/** `npm run setup` in a folder of its own, with a fake npm that records its calls. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { startProcess, temporaryFolder } from '../support/project.ts';

const NEEDED = {
  'node_modules/hono': { version: '4.0.0' },
  'node_modules/for-linux': { version: '1.0.0', optional: true },
};
const LOCKED = {
  ...NEEDED,
  client: {},
  'node_modules/client': { link: true },
  'node_modules/for-windows': { version: '1.0.0', optional: true },
};
/** The list that npm writes of the packages it has installed. */
export const LIST = '.package-lock.json';
export const INSTALLED = JSON.stringify({ packages: NEEDED });
const FILES = ['hono/package.json', 'for-linux/package.json', '.bin/node'];

/** A clone whose packages are not installed. */
export async function freshClone() {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);

  function start(script: string, env: Record<string, string> = {}, ...options: string[]) {
    const fakeNpm = {
      npm_execpath: join(import.meta.dirname, 'npm.mjs'),
      npm_config_cache: 'cache',
    };
    const command = [...options, join(PROJECT_ROOT, 'ops', script)];
    return startProcess(command, folder, { ...fakeNpm, ...env });
  }

  const clone = {
    write(name: string, content = '') {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
    },

    remove: (name: string) => rmSync(path(name), { recursive: true }),

    /** Puts the packages and their list into place, as npm does. */
    install: () => cpSync(path('registry'), path('node_modules'), { recursive: true }),

    /** The calls of npm. */
    calls: () => readFileSync(path('calls'), 'utf8').split('\n').filter(Boolean),

    start,
    run: (...command: Parameters<typeof start>) => start(...command).exited,

    setUp: (env?: Record<string, string>, ...options: string[]) =>
      clone.run('install.mjs', env, ...options),

    /** Starts an installation that waits until there is no file `hold`. */
    async hold() {
      clone.write('hold');
      const command = start('install.mjs');
      await expect.poll(clone.calls, { interval: 20 }).toHaveLength(1);
      return command;
    },
  };
  clone.write('package-lock.json', JSON.stringify({ packages: LOCKED }));
  clone.write('calls');
  clone.write(`registry/${LIST}`, INSTALLED);
  for (const file of FILES) clone.write(`registry/${file}`);
  return clone;
}
