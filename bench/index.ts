/**
 * `npm run bench -- [part…]`: measures, writes the results to bench/results.json and BENCHMARKS.md, and prints which
 * thresholds are met. Exit code 1 when one is not, 2 for invalid arguments.
 */
import { exitWithUsage } from '../ops/usage.ts';
import { compareInWorkerd, compareInWrangler, compareWithHono } from './comparisons.ts';
import { describeRun, isMet, type Section, saveSection, thresholdTable } from './report.ts';
import { measureScale } from './scale.ts';
import { measureStartUp } from './startup.ts';
import { measureWaits } from './waits.ts';

const PARTS: Record<string, [description: string, measure: () => Promise<Section>]> = {
  waits: ['how often each operation waits for KV and D1, exact', measureWaits],
  startup: ['size and start-up time of the bundle, compared with a bare Hono app', measureStartUp],
  overhead: ['CPU per request with stub bindings, compared with a bare Hono app', compareWithHono],
  workerd: ['speed in workerd alone, compared with a bare worker', compareInWorkerd],
  wrangler: ["speed in wrangler's test harness, compared with a bare worker", compareInWrangler],
  scale: ['rows that D1 bills, exact, and speed, with a million animals', measureScale],
};
const list = Object.entries(PARTS).map(([part, [text]]) => `  ${part.padEnd(9)} ${text}\n`);
const usage = `usage: npm run bench -- [part…]

Parts, all of them by default, in about a quarter of an hour:
${list.join('').trimEnd()}`;

const args = process.argv.slice(2);
const invalid = args.find((arg) => !Object.hasOwn(PARTS, arg));
if (invalid !== undefined) exitWithUsage(usage, `no such part: ${invalid}`);
for (const [part, [description, measure]] of Object.entries(PARTS)) {
  if (args.length > 0 && !args.includes(part)) continue;
  console.error(`${part}: ${description}`);
  const run = describeRun();
  const section = await measure();
  await saveSection(part, { ...run, ...section });
  console.log(thresholdTable({ [part]: section }));
  if (!section.thresholds.every(isMet)) process.exitCode = 1;
}
