/** What is deployed: how large it is, what is in it, and how long it takes to start. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { Build } from './contenders.ts';
import { type Summary, summarize } from './statistics.ts';

const STARTS = 25;

export type Weight = {
  bytes: number;
  gzipBytes: number;
  /** Bytes of the bundle by package, `src` for the store itself; the largest first. */
  packages: Record<string, number>;
  /** CPU time to load and evaluate the module in a new isolate of this Node.js, in ms. */
  startMs: Summary;
};

/** Of esbuild's metafile, what is read here. */
type Metafile = { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> };

export async function weigh({ folder }: Build): Promise<Weight> {
  const entry = join(folder, 'index.js');
  const bundle = await readFile(entry);
  const { outputs }: Metafile = JSON.parse(await readFile(join(folder, 'meta.json'), 'utf8'));
  const packages = new Map<string, number>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = packageOf(path);
      packages.set(name, (packages.get(name) ?? 0) + bytesInOutput);
    }
  }
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i += 1) starts.push(await startMs(entry));
  return {
    bytes: bundle.length,
    gzipBytes: gzipSync(bundle).length,
    packages: Object.fromEntries([...packages].sort(([, a], [, b]) => b - a)),
    startMs: summarize(starts),
  };
}

/** The package that a source file belongs to: `hono` of `node_modules/hono/dist/…`. */
export function packageOf(path: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
  return name ?? (/(^|\/)src\//.test(path) ? 'src' : 'the bundler');
}

/** A thread has an isolate of its own: nothing is left from the start before. */
function startMs(entry: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(join(import.meta.dirname, 'start.ts'), { workerData: entry });
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}
