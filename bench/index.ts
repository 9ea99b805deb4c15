/** `npm run bench -- [part…]`: prints a Markdown table of each part. */
import { cpus } from 'node:os';
import { Argument } from 'commander';
import workerd from 'workerd/package.json' with { type: 'json' };
import { createProgram, run } from '../ops/command/command-line.ts';
import { raceWithBareWorker } from './race.ts';
import { measureRows } from './rows.ts';
import { measureStart } from './start.ts';

const PARTS: Record<string, () => Promise<string>> = {
  race: raceWithBareWorker,
  start: measureStart,
  rows: measureRows,
};

const names = Object.keys(PARTS);
const program = createProgram('npm run bench --', 'Measures parts: see BENCHMARKS.md.')
  .addArgument(new Argument('[part...]').choices(names).default(names))
  .action(async (chosen: string[]) => {
    console.log(
      `${new Date().toISOString()}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores; Node.js ${process.versions.node}, workerd ${workerd.version}`,
    );
    for (const [name, measure] of Object.entries(PARTS))
      if (chosen.includes(name)) console.log(`\n${name}\n\n${await measure()}`);
  });
await run(program);
