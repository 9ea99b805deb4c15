/**
 * `npm run soak -- --minutes 10`: mixed load on a store of its own, for minutes. Every response is checked, and the memory
 * of the runtime is watched. Exit code 1 when anything is wrong.
 */
import { parseArgs } from 'node:util';
import { headersOf } from './calls.ts';
import { fullRig, serving } from './rigs.ts';
import { memoryMiB, runtimes } from './runtime.ts';
import { summarize } from './statistics.ts';

const CLIENTS = 8;
const PROGRESS_MS = 10_000;
/** Memory in the last quarter ÷ that in the one before. The runtime grows into its memory for some minutes. */
const MAX_GROWTH = 1.2;
/** Fewer samples of the memory say nothing. */
const MIN_SAMPLES = 20;

type Item = { id: number; name: string; status?: string };

const minutes = readMinutes();
const problems = new Set<string>();
const names: string[] = [];
const memory: number[] = [];
let requests = 0;
let orders = 0;
let base = '';
let end = 0;

await serving(fullRig, ['src/index.ts'], async ({ port }) => {
  base = `http://127.0.0.1:${port}/v1`;
  end = Date.now() + minutes * 60_000;
  const progress = setInterval(report, PROGRESS_MS);
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => load(client)));
  clearInterval(progress);
  const pets = await readPages('/pets?limit=100');
  check(pets.length === names.length, `${names.length} animals added, ${pets.length} listed`);
  check(new Set(pets.map(({ name }) => name)).isSupersetOf(new Set(names)), 'an animal is lost');
  const listed = await readPages('/store/orders?limit=100');
  check(listed.length === orders, `${orders} orders placed, ${listed.length} listed`);
});
checkMemory();
report();
for (const problem of problems) console.error(problem);
process.exitCode = problems.size > 0 ? 1 : 0;

function readMinutes(): number {
  try {
    const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
    const minutes = Number(values.minutes);
    if (minutes > 0 && minutes <= 600) return minutes;
  } catch {
    // An unknown argument, or a missing value: the usage shows the valid ones.
  }
  console.error('usage: npm run soak -- [--minutes N]   (N up to 600)');
  process.exit(2);
}

/** One client, until the time is over. */
async function load(client: number): Promise<void> {
  for (let i = 0; Date.now() < end; i += 1) {
    const choice = Math.random();
    if (choice < 0.4) await createTwice(`${client}-${i}`);
    else if (choice < 0.55) await order();
    else if (choice < 0.75) await readPages('/pets?limit=20&status=sold', 'sold', 1);
    else if (choice < 0.9) await readPages('/store/orders?limit=20', '', 1);
    else if (choice < 0.998) await call('GET', '/pets?limit=0', [400]);
    else await readPages('/pets?limit=100&status=available', 'available');
  }
}

/** Sends a create and its retry at once: they add one animal. */
async function createTwice(name: string): Promise<void> {
  const body = { name, categoryId: 1, status: names.length % 3 === 0 ? 'sold' : 'available' };
  const send = () => call('POST', '/pets', [201], body, { 'idempotency-key': name });
  const [first, second] = await Promise.all([send(), send()]);
  check(first?.text === second?.text, 'a replay was not the first answer');
  if (first) names.push(name);
}

/** Orders an animal, which others may have done, and cancels the order. */
async function order(): Promise<void> {
  const petId = 1 + Math.floor(Math.random() * names.length);
  const placed = await call('POST', '/store/orders', [201, 404, 409], { petId });
  if (placed?.status !== 201) return;
  orders += 1;
  const { id }: Item = JSON.parse(placed.text);
  await call('PATCH', `/store/orders/${id}`, [200], { status: 'cancelled' });
}

/** The items of so many pages, which must ascend and have the status. */
async function readPages(first: string, status = '', pages = Infinity): Promise<Item[]> {
  const items: Item[] = [];
  let path: string | undefined = first;
  for (let page = 0; path && page < pages; page += 1) {
    const response = await call('GET', path, [200]);
    items.push(...JSON.parse(response?.text ?? '[]'));
    path = /<[^>]+\/v1(\/[^>]+)>; rel="next"/.exec(response?.link ?? '')?.[1];
  }
  const isAscending = items.every(({ id }, i) => i === 0 || id > (items[i - 1]?.id ?? id));
  check(isAscending, 'a list is not in order');
  check(!status || items.every((item) => item.status === status), 'a list has another status');
  return items;
}

async function call(method: string, path: string, expected: number[], json?: object, more = {}) {
  requests += 1;
  const headers = { ...headersOf({ path }), ...more };
  try {
    const body = json && JSON.stringify(json);
    const response = await fetch(base + path, { method, headers, ...(body && { body }) });
    const { status } = response;
    const text = await response.text();
    if (expected.includes(status)) return { status, text, link: response.headers.get('link') };
    problems.add(`${method} ${path}: ${status} ${text}`);
  } catch (error) {
    problems.add(`${method} ${path}: ${error}`);
  }
  return undefined;
}

function check(holds: boolean, problem: string): void {
  if (!holds) problems.add(problem);
}

function report(): void {
  const used = runtimes().reduce((sum, pid) => sum + memoryMiB(pid), 0);
  if (used > 0) memory.push(used);
  const counts = `${requests} requests, ${names.length} animals, ${orders} orders`;
  console.log(`${counts}, ${problems.size} problems, ${memory.at(-1)?.toFixed(0)} MiB`);
}

function checkMemory(): void {
  const quarter = Math.floor(memory.length / 4);
  if (memory.length < MIN_SAMPLES) return;
  const before = summarize(memory.slice(-2 * quarter, -quarter)).median;
  const last = summarize(memory.slice(-quarter)).median;
  check(last <= before * MAX_GROWTH, `memory: ${before.toFixed(0)} MiB, then ${last.toFixed(0)}`);
}
