/** `npm run soak -- [minutes]`: clients use a separate store. Exit code 1: wrong responses or growing memory. */
import { createAnimalStore } from '../client/src/index.ts';
import { KEY } from './calls.ts';
import { memoryMiB } from './processes.ts';
import { withServers, wranglerHarness } from './servers.ts';

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0 && minutes <= 600) || process.argv.length > 3) {
  console.error('usage: npm run soak -- [minutes]   (at most 600, default 10)');
  process.exit(2);
}
const problems = new Set<string>();
const check = (holds: boolean, problem: string) => holds || problems.add(problem);

await withServers(wranglerHarness, [{ entry: 'src/index.ts' }], async ({ port, pids }) => {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  // One attempt: every failure counts.
  const store = createAnimalStore({ baseUrl, apiKey: KEY, maxAttempts: 1 });
  const added: bigint[] = [];

  /** Adds an animal, twice with one idempotency key, orders it, and cancels the order. */
  async function visit(): Promise<void> {
    const idempotencyKey = crypto.randomUUID();
    const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
    const create = () => store.createPet(pet, { idempotencyKey });
    const [{ id }, retried] = await Promise.all([create(), create()]);
    added.push(id);
    check(retried.id === id, 'a retry added a second animal');
    const order = await store.placeOrder({ petId: id });
    await store.updateOrder(order.id, { status: 'cancelled' });
  }

  /** Returns the memory afterwards, in MiB. */
  async function visitFor(ms: number): Promise<number> {
    const end = Date.now() + ms;
    const clients = Array.from({ length: 8 }, async () => {
      while (Date.now() < end) await visit().catch((error) => problems.add(String(error)));
    });
    await Promise.all(clients);
    return memoryMiB(pids);
  }

  const [before, after] = [await visitFor(minutes * 45_000), await visitFor(minutes * 15_000)];
  // In its first minutes the runtime uses more and more memory.
  check(after <= before * 1.2, 'the memory grew by more than a fifth in the last quarter');
  const left = new Set(added);
  for await (const { id } of store.listPets({ status: 'available' }))
    check(left.delete(id), 'a list has an animal twice, or one that was not added');
  check(left.size === 0, 'a list lacks an animal');
  console.log(`${added.length} animals, memory ${before.toFixed()} → ${after.toFixed()} MiB`);
});

for (const problem of problems) console.error(problem);
process.exitCode = problems.size > 0 ? 1 : 0;
