/** `npm run soak -- [minutes]`: concurrent clients use a separate store. Exit code 1: wrong responses or growing memory. */
import { createAnimalStore } from '../client/src/index.ts';
import { LOCAL_KEY } from '../ops/local/store.ts';
import { exitWithUsage } from '../ops/usage.ts';
import { memoryMiB } from './processes.ts';
import { withServers, wranglerHarness } from './servers.ts';

const CLIENTS = 8;
/** Memory after the last quarter ÷ before it. In its first minutes the runtime uses more and more memory. */
const MAX_GROWTH = 1.2;

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0 && minutes <= 600) || process.argv.length > 3) {
  exitWithUsage('usage: npm run soak -- [minutes]   (at most 600; default 10)');
}

const problems = new Set<string>();
const added = new Set<bigint>();

await withServers(wranglerHarness, ['src/index.ts'], async ({ port, pids }) => {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  // One attempt: every failure counts.
  const store = createAnimalStore({ baseUrl, apiKey: LOCAL_KEY, maxAttempts: 1 });

  /** Adds an animal, orders it, reads a list, and cancels the order. */
  async function visit(): Promise<void> {
    const idempotencyKey = crypto.randomUUID();
    const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
    const create = () => store.createPet(pet, { idempotencyKey });
    const [{ id }, retried] = await Promise.all([create(), create()]);
    added.add(id);
    check(retried.id === id, 'a retry added a second animal');
    const order = await store.placeOrder({ petId: id });
    const { items } = await store.listPets({ status: 'pending' }).page();
    check(!items.some(({ status }) => status !== 'pending'), 'a list has another status');
    await store.updateOrder(order.id, { status: 'cancelled' });
  }

  const memory: number[] = [];
  const start = Date.now();
  for (const quarter of [1, 2, 3, 4]) {
    const end = start + quarter * minutes * 15_000;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (Date.now() < end) await visit().catch((error) => problems.add(String(error)));
    });
    await Promise.all(clients);
    memory.push(memoryMiB(pids));
    console.log(`quarter ${quarter}: ${added.size} animals, ${memory.at(-1)?.toFixed(0)} MiB`);
  }
  const [before = 0, after = 0] = memory.slice(-2);
  check(after <= before * MAX_GROWTH, 'the memory grew in the last quarter');

  const missing = { pets: new Set(added), orders: new Set(added) };
  let last = 0n;
  for await (const { id, status } of store.listPets()) {
    check(missing.pets.delete(id) && id > last, 'a list has unknown animals or is not in order');
    check(status === 'available', 'an animal is not available after its order was cancelled');
    last = id;
  }
  for await (const { petId } of store.listOrders()) missing.orders.delete(petId);
  check(missing.pets.size + missing.orders.size === 0, 'an animal or an order is missing');
});

console.log(`${added.size} animals added and ordered, ${problems.size} problems`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.size > 0 ? 1 : 0;

function check(holds: boolean, problem: string): void {
  if (!holds) problems.add(problem);
}
