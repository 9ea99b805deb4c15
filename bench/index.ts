/** `npm run bench -- [part…]`: prints a Markdown table of each part. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Argument } from 'commander';
import { createProgram, run } from '../ops/command/command-line.ts';
import { raceAgainst } from './against.ts';
import { playScenes } from './demo.ts';
import { measureLoad } from './load.ts';
import { raceWithOthers } from './race.ts';
import { measureRows } from './rows.ts';
import { buildAll, WORKERS } from './servers.ts';
import { format, MACHINE, table, writeResult } from './statistics.ts';

const PARTS: Record<string, () => Promise<string>> = {
  race: raceWithOthers,
  load: measureLoad,
  machine: async () => MACHINE,
  size: measureSize,
  rows: measureRows,
  demo: playScenes,
};

const names = Object.keys(PARTS);
const program = createProgram('npm run bench --', 'Measures parts: see BENCHMARKS.md.')
  .addArgument(new Argument('[part...]').choices(names).default(names))
  .option('--write', 'write the tables into README.md and BENCHMARKS.md')
  .action(async (chosen: string[], { write }: { write?: true }) => {
    for (const name of chosen) {
      const result = await PARTS[name]?.();
      console.log(`${name}\n\n${result}\n`);
      if (result && write) writeResult(name, result);
    }
  });
program
  .command('against <commit>')
  .description('fails if a request takes more CPU time than at the merge base with that commit')
  .action(raceAgainst);
await run(program);

async function measureSize(): Promise<string> {
  const bundles = await buildAll(Object.values(WORKERS));
  const kibibytes = bundles.map((bundle) => format(gzipSync(readFileSync(bundle)).length / 1024));
  return table(['script, gzipped', ...Object.keys(WORKERS)], [['KiB', ...kibibytes]]);
}
