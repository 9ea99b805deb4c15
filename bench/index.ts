/**
 * `npm run bench -- [part…]`: measures, writes the results to bench/results.json and BENCHMARKS.md, and prints which
 * bars are reached. Exit code 1 when one is not, 2 for invalid arguments.
 */
import { raceFull, raceHono, raceQuiet } from './race.ts';
import { barTable, describeRun, isReached, type Section, saveSection } from './report.ts';
import { measureScale } from './scale.ts';
import { measureStartUp } from './startup.ts';
import { measureWaits } from './waits.ts';

const PARTS: Record<string, [what: string, measure: () => Promise<Section>]> = {
  waits: ['how long a request waits for KV and D1; exact', measureWaits],
  startup: ['weight and start-up of the bundle, beside a bare Hono app', measureStartUp],
  own: ['CPU of a request without a platform behind it, beside a bare Hono app', raceHono],
  quiet: ['speed, beside a bare worker in workerd alone', raceQuiet],
  race: ["speed, beside a bare worker in wrangler's harness", raceFull],
  scale: ['rows that D1 bills, exact, and speed, among a million animals', measureScale],
};
const list = Object.entries(PARTS).map(([part, [what]]) => `  ${part.padEnd(8)} ${what}\n`);
const usage = `usage: npm run bench -- [part…]

Parts, all of them by default, in about ten minutes:
${list.join('')}`;

const args = process.argv.slice(2);
const invalid = args.find((arg) => !Object.hasOwn(PARTS, arg));
if (invalid === '--help' || invalid === '-h') {
  process.stdout.write(usage);
} else if (invalid !== undefined) {
  process.stderr.write(`error: no such part: ${invalid}\n${usage}`);
  process.exitCode = 2;
} else {
  for (const [part, [what, measure]] of Object.entries(PARTS)) {
    if (args.length > 0 && !args.includes(part)) continue;
    console.error(`${part}: ${what}`);
    const run = describeRun();
    const section = await measure();
    await saveSection(part, { ...run, ...section });
    console.log(barTable({ [part]: section }));
    if (!section.bars.every(isReached)) process.exitCode = 1;
  }
}
