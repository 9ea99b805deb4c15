/**
 * `npm run bench -- [part…]`: measures, writes what it finds to bench/results.json and BENCHMARKS.md, and says
 * which bars are reached. Exit code 1 when one is not.
 */
import { parseArgs } from 'node:util';
import { type Bars, raceBare, raceHono } from './race.ts';
import { writeReport } from './report.ts';
import { describeRun, isReached, readResults, type Section, writeResults } from './results.ts';
import { fullRig, quietRig } from './rigs.ts';
import { measureScale } from './scale.ts';
import { measureStartUp } from './startup.ts';
import { countWaits } from './waits.ts';

const LOAD = { connections: 16, amount: 200, rounds: 15, warmUp: 600 };
const BARS = {
  quiet: {
    metric: 'requests in a second of CPU',
    list: 0.92,
    listKv: 1.2,
    list100: 1,
    get: 0.9,
    create: 0.88,
  },
  race: {
    metric: 'requests a second',
    list: 0.9,
    listKv: 1.1,
    list100: 0.9,
    get: 0.9,
    create: 0.85,
  },
} satisfies Record<string, Bars>;

const PARTS: Record<string, [what: string, measure: () => Promise<Section>]> = {
  waits: ['how often a request waits for KV and D1; exact', countWaits],
  startup: ['weight and start-up of the bundle, beside a bare Hono app', measureStartUp],
  own: [
    'CPU of a request without a platform behind it, beside a bare Hono app',
    () => raceHono({ connections: 8, amount: 1_000, rounds: 21, warmUp: 5_000 }),
  ],
  quiet: [
    'speed, beside a bare worker in workerd alone',
    () => raceBare(quietRig, BARS.quiet, { ...LOAD, rounds: 21 }),
  ],
  race: [
    "speed, beside a bare worker in wrangler's harness, with static assets and a log",
    () => raceBare(fullRig, BARS.race, { ...LOAD, amount: 100, warmUp: 300 }),
  ],
  scale: [
    'rows that D1 bills, exact, and speed, among a million animals',
    () => measureScale(LOAD),
  ],
};

const USAGE = `usage: npm run bench -- [part…]

Parts, all of them by default, in about ten minutes:
${Object.entries(PARTS)
  .map(([name, [what]]) => `  ${name.padEnd(8)} ${what}`)
  .join('\n')}`;

const parts = readParts();
for (const part of parts) {
  const [what, measure] = PARTS[part] ?? refuse(`no such part: ${part}`);
  console.error(`${part}: ${what}`);
  const run = describeRun();
  const section = await measure();
  // Read again: another run may have written its part meanwhile.
  const all = { ...(await readResults()), [part]: { ...run, ...section } };
  await writeResults(all);
  await writeReport(all);
  for (const bar of section.bars) {
    const { figure, least, most, value } = bar;
    const must = least === undefined ? `at most ${most}` : `at least ${least}`;
    if (!isReached(bar)) process.exitCode = 1;
    const word = isReached(bar) ? 'reached    ' : 'NOT REACHED';
    console.log(`${word} ${value.toFixed(2).padStart(6)} (${must}): ${figure}`);
  }
}

function readParts(): string[] {
  try {
    const options = { help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
    if (unknown !== undefined) refuse(`no such part: ${unknown}`);
    return positionals.length > 0 ? positionals : Object.keys(PARTS);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(`error: ${message}\n${USAGE}`);
  process.exit(2);
}
