/** What users and bundlers do with the package. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

/** Bundles a script that can import './suite.ts'. */
export async function bundle(contents: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles = [] } = await build({
    stdin: { contents, loader: 'tsx', resolveDir: join(PROJECT_ROOT, 'test/client') },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    ...options,
  });
  return outputFiles.map(({ text }) => text).join('');
}

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

type Packed = { filename: string; files: { path: string }[] };

/** Builds and packs the client, as `npm pack` with these options does. */
export function packClient(...options: string[]): Packed {
  const pack = ['pack', '--ignore-scripts=false', '--json', '--workspace', 'client'];
  return JSON.parse(runNpm(...pack, ...options))[0];
}
