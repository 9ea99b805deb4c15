/** The runtime is killed several times while clients write, and restarted on the same data. */
import { expect, test } from 'vitest';
import { createAnimalStore, StoreError } from '../../client/src/index.ts';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort, type Running } from '../support/project.ts';

const ROUNDS = 5;
const CLIENTS = 8;
/** Animals in a round before the kill, on average. */
const ANIMALS = 40;

const project = copyProject();

async function start(port: number): Promise<Running> {
  const running = project.start('local/start.ts', ['--port', String(port)]);
  await running.printed('curl -i');
  return running;
}

/** Kills the process group of `npm start`, which has the runtime, too: none of them can clean up. */
async function kill({ process: { pid = 0 }, exited }: Running): Promise<void> {
  process.kill(-pid, 'SIGKILL');
  await exited;
}

test('after each kill, the store has every write that clients saw, and none twice', async () => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}/v1`;
  const store = createAnimalStore({ baseUrl, apiKey: LOCAL_KEY, maxAttempts: 1 });
  /** The names of the animals that clients sent, with the order of each that they received. */
  const orders = new Map<string, object | undefined>();

  /** Adds an animal and orders it, or repeats that. */
  async function addAndOrder(name: string): Promise<void> {
    const seen = orders.get(name);
    orders.set(name, seen);
    const key = { idempotencyKey: name };
    const pet = await store.createPet({ name, categoryId: 1n, status: 'available' }, key);
    const order = await store.placeOrder({ petId: pet.id }, key);
    expect(order).toEqual(seen ?? order);
    orders.set(name, order);
  }

  async function addUntilKilled(): Promise<void> {
    try {
      for (;;) await addAndOrder(`Pet ${orders.size}`);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'network_error') throw error;
    }
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    const running = await start(port);
    const count = orders.size + ANIMALS * (0.5 + Math.random());
    const clients = Promise.all(Array.from({ length: CLIENTS }, addUntilKilled));
    await expect.poll(() => orders.size, { interval: 1 }).toBeGreaterThan(count);
    await kill(running);
    await clients;

    const again = await start(port);
    const all = { max: 10_000 };
    const ordered = (await store.listOrders().toArray(all)).map(({ petId }) => petId);
    const pending = await store.listPets({ status: 'pending' }).toArray(all);
    // An order and the status of its animal are written together.
    expect(new Set(ordered)).toEqual(new Set(pending.map(({ id }) => id)));
    for (const name of orders.keys()) await addAndOrder(name);
    const names = (await store.listPets().toArray(all)).map((pet) => pet.name);
    expect(names.toSorted()).toEqual([...orders.keys()].toSorted());
    await kill(again);
  }
});
