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
