/** The machine that measured, and the versions of what ran on it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { Results } from './results.ts';

const require = createRequire(import.meta.url);

export async function describeMachine(): Promise<Results['machine']> {
  const model = cpus()[0]?.model ?? 'unknown';
  return {
    processor: `${model}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    system: `${type()} ${release()}`,
    node: process.versions.node,
    wrangler: await versionOf('wrangler'),
    workerd: await versionOf('workerd'),
  };
}

async function versionOf(name: string): Promise<string> {
  const manifest = await readFile(require.resolve(`${name}/package.json`), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
