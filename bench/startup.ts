/** Size of the bundle that a new isolate loads, and CPU time of its import. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Section } from './report.ts';
import { build } from './servers.ts';
import { mean, show } from './statistics.ts';

const ROUNDS = 61;

/** Prints how much CPU time the import of a module takes, in ms. */
const IMPORT = `
  const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);`;

export async function measureStartUp(): Promise<Section> {
  const modules = {
    'an empty module': join(import.meta.dirname, 'workers/empty.js'),
    'a bare Hono app': await build('bench/workers/hono.ts'),
    'the store': await build('src/index.ts'),
  };
  const imports = Object.entries(modules).map(([name, file]) => ({
    name,
    file,
    ms: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { file, ms } of imports) ms.push(await importMs(file));
  }
  const estimates = imports.map(({ name, ms }) => ({ name, ...mean(ms) }));
  const [empty = 0, hono = 0, store = 0] = estimates.map(({ value }) => value);
  const rows = estimates.map(({ name, ...estimate }) => [
    ...[name, show(estimate, 1), (estimate.value - empty).toFixed(2)],
  ]);
  const kib = gzipSync(await readFile(modules['the store'])).length / 1024;
  return {
    thresholds: [
      { figure: 'start-up, store ÷ bare Hono', max: 4.5, value: (store - empty) / (hono - empty) },
      { figure: 'bundle size, gzip, KiB', max: 34, value: kib },
    ],
    table: [['module', 'CPU ms', 'minus the empty module'], ...rows],
  };
}

async function importMs(file: string): Promise<number> {
  const args = ['--input-type=module', '--eval', IMPORT, '--', file];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}
