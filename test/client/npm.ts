import { spawnSync } from 'node:child_process';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

/** Runs npm at the root of the repository, and returns what it prints. */
export function runNpm(...args: string[]): string {
  const path = process.env.npm_execpath;
  const [command, first] = path ? [process.execPath, [path]] : ['npm', []];
  const { status, stdout, stderr } = spawnSync(command, [...first, ...args, '--loglevel=error'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stdout;
}
