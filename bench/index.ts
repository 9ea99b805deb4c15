/** `npm run bench -- [part…]`. Exit code 1 when a threshold is missed, 2 for invalid arguments. */
import { Argument, Command } from 'commander';
import { compareWithBareWorker, compareWithHono } from './comparisons.ts';
import { thresholdTable, writePage } from './page.ts';
import { outcomeOf, readResults, record, type Section } from './results.ts';
import { measureScale } from './scale.ts';
import { measureStartUp } from './startup.ts';

const PARTS: Record<string, [description: string, measure: () => Promise<Section>]> = {
  startup: ['size and start-up time of the bundle, beside a bare Hono app', measureStartUp],
  overhead: ['CPU per request with stub bindings, beside a bare Hono app', compareWithHono],
  workerd: ['speed with local bindings, beside a bare worker', compareWithBareWorker],
  scale: ['rows that D1 bills for each request, exact, with a million animals', measureScale],
};

const last = await readResults();
const help = Object.entries(PARTS).map(
  ([part, [text]]) => `  ${part.padEnd(9)} ${text} (${last[part]?.seconds.toFixed() ?? '?'} s)`,
);
const program = new Command('npm run bench --')
  .description('Measures parts, and writes bench/results.json and BENCHMARKS.md.')
  .addArgument(new Argument('[part...]').choices(Object.keys(PARTS)).default(Object.keys(PARTS)))
  .option('--page', 'only write BENCHMARKS.md again, from bench/results.json')
  .addHelpText('after', `\nParts, and how long they took last time:\n${help.join('\n')}`)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const { page } = program.opts<{ page?: true }>();
const chosen: string[] = program.processedArgs[0];
for (const [part, [description, measure]] of Object.entries(PARTS)) {
  if (page || !chosen.includes(part)) continue;
  console.error(`${part}: ${description}`);
  const section = await record(part, measure);
  console.log(thresholdTable({ [part]: section }));
  if (section.figures.some((figure) => outcomeOf(figure) === 'missed')) process.exitCode = 1;
}
await writePage(await readResults());
