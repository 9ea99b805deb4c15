/** `npm run bench -- [part…]`: prints a Markdown table of each part. */
import { Argument } from 'commander';
import { createProgram, run } from '../ops/command/command-line.ts';
import { raceAgainst } from './against.ts';
import { measureLoad } from './load.ts';
import { raceWithPlainHono } from './race.ts';
import { measureRows } from './rows.ts';
import { measureSize, measureStart } from './start.ts';
import { MACHINE } from './statistics.ts';

const PARTS: Record<string, () => Promise<string>> = {
  race: raceWithPlainHono,
  size: measureSize,
  load: measureLoad,
  start: measureStart,
  rows: measureRows,
};

const names = Object.keys(PARTS);
const program = createProgram('npm run bench --', 'Measures parts: see BENCHMARKS.md.')
  .addArgument(new Argument('[part...]').choices(names).default(names))
  .action(async (chosen: string[]) => {
    console.log(MACHINE);
    for (const [name, measure] of Object.entries(PARTS))
      if (chosen.includes(name)) console.log(`\n${name}\n\n${await measure()}`);
  });
program
  .command('against <commit>')
  .description('fails if a request takes more CPU time than at the merge base with that commit')
  .action(raceAgainst);
await run(program);
