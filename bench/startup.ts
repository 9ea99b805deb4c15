/** Size of the bundle that a new isolate loads, and CPU time of its import. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { MAX_BUNDLE_KIB } from '../ops/check-bundle.ts';
import type { Section } from './results.ts';
import { build } from './servers.ts';
import { median, medianRatio } from './statistics.ts';

const ROUNDS = 61;

/** Prints how much CPU time the import of a module takes, in microseconds. */
const IMPORT = `
  const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  console.log(user + system);`;

export async function measureStartUp(): Promise<Section> {
  const store = await build('src/index.ts');
  const hono = await build('bench/workers/hono.ts');
  const nothing = join(import.meta.dirname, 'workers/empty.js');
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const empty = cpuOfImport(nothing);
    ours.push(cpuOfImport(store) - empty);
    theirs.push(cpuOfImport(hono) - empty);
  }
  const kib = gzipSync(readFileSync(store)).length / 1024;
  const cpu = { store: median(ours), baseline: median(theirs) };
  return {
    figures: [
      { name: 'import', max: 6, estimate: medianRatio(ours, theirs), ...cpu },
      { name: 'bundle, KiB gzip', max: MAX_BUNDLE_KIB, estimate: median([kib]) },
    ],
  };
}

function cpuOfImport(file: string): number {
  const args = ['--input-type=module', '--eval', IMPORT, '--', file];
  return Number(execFileSync(process.execPath, args));
}
