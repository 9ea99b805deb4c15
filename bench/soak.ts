/**
 * `npm run soak -- --minutes 10`: mixed load on a store of its own, for minutes. Every answer is checked,
 * pages too, and the memory of the runtime is watched. Exit code 1 when anything is wrong.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createTestHarness } from 'wrangler';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { recordName } from '../src/keys/record.ts';

const minutes = readMinutes();

const CLIENTS = 8;
const PROGRESS_MS = 10_000;
/**
 * How much more memory the runtime may take in the last quarter of the run than in the one before. The
 * first half is its own affair: the local runtime grows into its memory for some minutes.
 */
const MAX_GROWTH = 1.1;

type Pet = { id: number; name: string; status?: string };
type Order = { id: number; petId: number; status: string };

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
// What would be deployed, built once: nothing that is edited meanwhile restarts it.
const build = await mkdtemp(join(tmpdir(), 'animal-store-'));
await runWrangler(['deploy', '--dry-run', '--env', '', '--outdir', build]);
const server = createTestHarness({
  root: PROJECT_ROOT,
  workers: [{ configPath: 'wrangler.toml', prebuiltWorkerDir: build }],
});
const { url } = await server.listen();
const base = `${url.origin}/v1`;
const worker = server.getWorker<Env>();
await worker.applyD1Migrations('DB');
const { API_KEYS } = await worker.getEnv();
const record = { id: 'soak', label: 'soak', createdAt: new Date().toISOString() };
await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(record));

const problems: string[] = [];
const memory: number[] = [];
let requests = 0;
const created = new Set<string>();
let ordered = 0;
const end = Date.now() + minutes * 60_000;

try {
  const progress = setInterval(report, PROGRESS_MS);
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => load(client)));
  clearInterval(progress);
  const pets = await walk<Pet>('/pets');
  const names = pets.map(({ name }) => name);
  if (new Set(names).size !== names.length) problems.push('an animal is there twice');
  if (names.length !== created.size || names.some((name) => !created.has(name))) {
    problems.push(`${created.size} animals were added, ${names.length} are there`);
  }
  checkOrders(await walk<Order>('/store/orders'), pets);
  await report();
} finally {
  await server.close();
  await rm(build, { recursive: true });
}

const quarter = Math.max(1, Math.floor(memory.length / 4));
const [before, last] = [
  median(memory.slice(-2 * quarter, -quarter)),
  median(memory.slice(-quarter)),
];
const growth = last / before;
console.log(
  `soak: ${minutes} min, ${requests} requests, ${created.size} animals added, ${ordered} ordered, ${problems.length} problems; ` +
    `workerd ${before.toFixed(0)} MiB in the third quarter, ${last.toFixed(0)} MiB in the last`,
);
// A few samples say nothing.
if (memory.length >= 20 && growth > MAX_GROWTH)
  problems.push(`memory grew by ${growth.toFixed(2)} from the third quarter to the last`);
for (const problem of new Set(problems)) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function readMinutes(): number {
  try {
    const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
    const minutes = Number(values.minutes);
    if (minutes > 0 && minutes <= 600) return minutes;
  } catch {
    // An unknown argument, or a missing value: the usage says what there is.
  }
  console.error('usage: npm run soak -- [--minutes N]   (N up to 600)');
  process.exit(2);
}

/** One client: it does what comes into its head, until the time is over. */
async function load(client: number): Promise<void> {
  for (let i = 0; Date.now() < end; i += 1) {
    const choice = Math.random();
    if (choice < 0.25) await create(`${client}-${i}`, false);
    else if (choice < 0.4) await create(`${client}-${i}`, true);
    else if (choice < 0.5) await order();
    else if (choice < 0.65) await page('/pets?limit=20', '');
    else if (choice < 0.8) await page('/pets?limit=20&status=sold', '&status=sold');
    else if (choice < 0.85) await page('/store/orders?limit=20', '');
    else if (choice < 0.9) await call('GET', '/pets/1', created.size > 0 ? [200] : []);
    else if (choice < 0.998) await call('GET', '/pets?limit=0', [400]);
    else await walk('/pets', '&status=available');
  }
}

async function create(name: string, isOnce: boolean): Promise<void> {
  const status = ['available', 'pending', 'sold', undefined][Math.floor(Math.random() * 4)];
  const headers: Record<string, string> = isOnce ? { 'idempotency-key': name } : {};
  const body = JSON.stringify({ name, categoryId: 1, status });
  const first = await call('POST', '/pets', [201], { body, headers });
  if (first) created.add(name);
  if (isOnce && (await call('POST', '/pets', [201], { body, headers }))?.text !== first?.text) {
    problems.push('a replay was not the first answer');
  }
}

/** Orders an animal, which others may have done, and delivers or cancels the order. */
async function order(): Promise<void> {
  const petId = 1 + Math.floor(Math.random() * created.size);
  const body = JSON.stringify({ petId });
  const placed = await call('POST', '/store/orders', [201, 404, 409], { body });
  if (placed?.status !== 201) return;
  ordered += 1;
  const { id } = JSON.parse(placed.text) as Order;
  for (const status of Math.random() < 0.2 ? ['approved', 'delivered'] : ['cancelled']) {
    await call('PATCH', `/store/orders/${id}`, [200], { body: JSON.stringify({ status }) });
  }
}

/** What holds when no client is in the middle of an order: none is open, and what was delivered is sold, once. */
function checkOrders(orders: Order[], pets: Pet[]): void {
  if (orders.length !== ordered) {
    problems.push(`${ordered} orders were placed, ${orders.length} are there`);
  }
  if (orders.some(({ status }) => status === 'placed' || status === 'approved')) {
    problems.push('an order is open');
  }
  const delivered = orders.filter(({ status }) => status === 'delivered').map((each) => each.petId);
  if (new Set(delivered).size !== delivered.length) problems.push('an animal was delivered twice');
  const sold = new Set(pets.filter(({ status }) => status === 'sold').map(({ id }) => id));
  if (!delivered.every((id) => sold.has(id))) problems.push('a delivered animal is not sold');
}

/** A page, in order, after the id `after`, and of the right status; and the query of the next. */
async function page<Item extends { id: number; status?: string }>(
  path: string,
  filter: string,
  after = 0,
): Promise<[Item[], string | undefined]> {
  const reply = await call('GET', path, [200]);
  if (!reply) return [[], undefined];
  const items = JSON.parse(reply.text) as Item[];
  let last = after;
  for (const item of items) {
    if (item.id <= last) problems.push('a page is not in order');
    if (filter && !filter.endsWith(`=${item.status}`)) problems.push('a page has another status');
    last = item.id;
  }
  return [items, /<[^>]+(\?[^>]+)>/.exec(reply.link)?.[1]];
}

/** All pages of a list. */
async function walk<Item extends { id: number; status?: string }>(
  list: string,
  filter = '',
): Promise<Item[]> {
  const all: Item[] = [];
  let query: string | undefined = `?limit=100${filter}`;
  while (query) {
    const [items, next]: [Item[], string | undefined] = await page(
      `${list}${query}`,
      filter,
      all.at(-1)?.id,
    );
    all.push(...items);
    query = next;
  }
  return all;
}

/** Sends a request. A status that is not `expected`, if any is, is a problem. */
async function call(method: string, path: string, expected: number[], init: RequestInit = {}) {
  requests += 1;
  try {
    const response = await fetch(base + path, {
      method,
      ...init,
      headers: {
        authorization: `Bearer ${LOCAL_KEY}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    });
    const text = await response.text();
    if (expected.length > 0 && !expected.includes(response.status)) {
      problems.push(`${method} ${path}: ${response.status} ${text}`);
      return undefined;
    }
    return { status: response.status, text, link: response.headers.get('link') ?? '' };
  } catch (error) {
    problems.push(`${method} ${path}: ${error}`);
    return undefined;
  }
}

async function report(): Promise<void> {
  server.clearLogs();
  const used = await memoryOfRuntime();
  if (used !== undefined) memory.push(used);
  const left = Math.max(0, (end - Date.now()) / 1000);
  console.log(
    `${left.toFixed(0).padStart(5)} s left, ${requests} requests, ${created.size} animals, ${problems.length} problems` +
      (used === undefined ? '' : `, workerd ${used.toFixed(0)} MiB`),
  );
}

/** Resident memory of the runtime's process below ours, in MiB; Linux only. */
async function memoryOfRuntime(): Promise<number | undefined> {
  const entries = await readdir('/proc').catch(() => []);
  const processes = new Map<number, { parent: number; name: string; pages: number }>();
  for (const pid of entries.filter((entry) => /^\d+$/.test(entry))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/.exec(stat.trim()) ?? [];
    const fields = rest.split(' ');
    processes.set(Number(pid), { name, parent: Number(fields[1]), pages: Number(fields[21]) });
  }
  const isOurs = (pid: number): boolean => {
    if (pid === process.pid) return true;
    const parent = processes.get(pid)?.parent;
    return parent !== undefined && parent > 1 && isOurs(parent);
  };
  const runtimes = [...processes].filter(([pid, { name }]) => name === 'workerd' && isOurs(pid));
  if (runtimes.length === 0) return undefined;
  return runtimes.reduce((sum, [, { pages }]) => sum + pages, 0) / 256;
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
