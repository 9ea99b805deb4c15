/** How long a client waits for a list under load, at the store and at plain Hono, each with a local D1. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { send } from './race.ts';
import { build, withServers } from './servers.ts';
import { format, MACHINE, quantile, table } from './statistics.ts';

const LIST = { path: '/v1/pets?limit=20' };
const PETS = 10_000;
/** Of all connections together, after as many that warm up. */
const REQUESTS = 3_200;

type Bar = { name: string; p50: number; p99: number };

/** Returns a table, and draws a chart of it. */
export async function measureLoad(): Promise<string> {
  const bundles = [await build('src/index.ts'), await build('bench/workers/cached-plain-hono.ts')];
  const bars = await withServers(bundles, PETS, async (ours, theirs) => {
    const measured: Bar[] = [];
    for (const connections of [1, 16, 64]) {
      measured.push(await measure(`this worker, ${connections} at once`, ours.port, connections));
      measured.push(await measure(`plain Hono, ${connections} at once`, theirs.port, connections));
    }
    return measured;
  });
  writeFileSync(join(PROJECT_ROOT, 'docs/images/load.svg'), draw(bars));
  const rows = bars.map(({ name, p50, p99 }) => [name, format(p50), format(p99)]);
  return table(['list of 20', 'p50, ms', 'p99, ms'], rows);
}

async function measure(name: string, port: number, connections: number): Promise<Bar> {
  const sendAll = () =>
    Promise.all(
      Array.from({ length: connections }, () => send(port, LIST, REQUESTS / connections)),
    );
  await sendAll();
  const times = (await sendAll()).flat();
  return { name, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** A line for each bar: up to p50 it is dark, up to p99 light. */
function draw(bars: Bar[]): string {
  const pixels = 380 / Math.max(...bars.map(({ p99 }) => p99));
  const lines = bars.map(({ name, p50, p99 }, index) => {
    const y = 40 + 26 * index;
    return `<g transform="translate(170 ${y})" fill="${index % 2 === 0 ? '#c2410c' : '#475569'}">
<text x="-160" y="13">${name}</text>
<rect width="${p99 * pixels}" height="18" opacity="0.4"/>
<rect width="${p50 * pixels}" height="18"/>
<text x="${p99 * pixels + 6}" y="13">${format(p50)}, ${format(p99)} ms</text>
</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 210" font-family="sans-serif" font-size="12">
<title>Time of a list of 20 under load</title>
<rect width="660" height="210" fill="white"/>
<text x="10" y="22">p50, p99. ${MACHINE}</text>
${lines.join('\n')}
</svg>
`;
}
