/** `npm run bench -- [part…]`. Exit code 1 when a threshold is missed, 2 for invalid arguments. */
import { Argument } from 'commander';
import { createProgram, run } from '../ops/command/command-line.ts';
import { compareWithBareWorker, compareWithHono } from './comparisons.ts';
import { isMissed, requestTable, thresholdTable, writePage } from './page.ts';
import { readResults, record, type Section } from './results.ts';
import { measureScale } from './scale.ts';
import { measureStartUp } from './startup.ts';

const PARTS: Record<string, () => Promise<Section>> = {
  // Size and start-up time of the bundle, beside a bare Hono app.
  startup: measureStartUp,
  // CPU per request with stub bindings, beside a bare Hono app.
  overhead: compareWithHono,
  // CPU per request with local bindings, beside a bare worker.
  workerd: compareWithBareWorker,
  // Rows that D1 bills for each request, exact, with a million animals.
  scale: measureScale,
};

const names = Object.keys(PARTS);
const program = createProgram(
  'npm run bench --',
  'Measures parts, and writes bench/results.json and BENCHMARKS.md. `page` only writes BENCHMARKS.md again.',
)
  .addArgument(new Argument('[part...]').choices([...names, 'page']).default(names))
  .action(async (chosen: string[]) => {
    for (const [name, measure] of Object.entries(PARTS)) {
      if (!chosen.includes(name)) continue;
      console.error(`Measuring ${name}`);
      const section = await record(name, measure);
      console.log(section.rows ? requestTable(section.rows) : thresholdTable({ [name]: section }));
      if (section.figures?.some(isMissed)) process.exitCode = 1;
    }
    await writePage(await readResults());
  });
await run(program);
