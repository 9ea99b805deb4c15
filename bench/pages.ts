/**
 * `npm run bench:pages`: what ways there are to read a page of animals from D1 as JSON, and what each takes: the rows
 * that are billed, and microseconds in the local runtime.
 */
import { addPets } from './animals.ts';
import { build, serve } from './contenders.ts';
import { type Outcome, type Task, WAYS } from './pages/index.ts';
import { summarize } from './statistics.ts';

const RUNS = 100;
const ROUNDS = 15;
const LIMITS = [20, 100];

const built = await build('bench/pages/index.ts');
const server = await serve(built);
await addPets(server.env.DB, 1_000);
const tasks = LIMITS.flatMap((limit) =>
  Object.keys(WAYS).map((way) => ({ way, limit, runs: RUNS })),
);
const times = new Map<Task, number[]>(tasks.map((task) => [task, []]));
const rowsRead = new Map<Task, number>();
for (let round = -1; round < ROUNDS; round += 1) {
  for (const task of round % 2 === 0 ? tasks : tasks.toReversed()) {
    const start = performance.now();
    const body = JSON.stringify(task);
    const reply = await fetch(`${server.origin}/run`, { method: 'POST', body });
    const outcome: Outcome = JSON.parse(await reply.text());
    if (round >= 0) times.get(task)?.push(((performance.now() - start) * 1000) / RUNS);
    rowsRead.set(task, outcome.rowsRead);
    if (JSON.parse(outcome.text).length < task.limit) throw new Error(`${task.way}: too few`);
  }
}
await server.close();
await built.remove();

for (const [task, values] of times) {
  const { median, low, high } = summarize(values);
  const time = `${median.toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)}) µs`;
  const rows = `${rowsRead.get(task)} rows`;
  console.log(`${time.padStart(20)}  ${rows.padStart(9)}  list of ${task.limit}: ${task.way}`);
}
