/** The runtime is killed several times while clients write, and restarted on the same data. */
import { expect, test } from 'vitest';
import { LOCAL_KEY } from '../../ops/local/store.ts';
import { copyProject, freePort, type Running } from '../support/project.ts';

const ROUNDS = 5;
const CLIENTS = 8;
/** Animals in a round before the kill, on average. */
const ANIMALS = 40;

const project = copyProject();

type Pet = { id: number; name: string };
type Order = { id: number; petId: number };

async function start(port: number): Promise<Running> {
  const running = project.start('start.ts', ['--port', String(port)]);
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
  const authorization = `Bearer ${LOCAL_KEY}`;
  /** The names of the animals that clients sent, with the order of each that they received. */
  const orders = new Map<string, Order | undefined>();

  async function create<T>(path: string, body: object, idempotencyKey: string): Promise<T> {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
    });
    expect(response.status).toBe(201);
    return response.json<T>();
  }

  /** Reads all pages of a list. */
  async function list<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    let url: string | undefined = `${baseUrl}${path}`;
    while (url) {
      const response: Response = await fetch(url, { headers: { authorization } });
      expect(response.status).toBe(200);
      items.push(...(await response.json<T[]>()));
      url = /^<(.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    }
    return items;
  }

  /** Adds an animal and orders it, or repeats that. */
  async function addAndOrder(name: string): Promise<void> {
    const seen = orders.get(name);
    orders.set(name, seen);
    const newPet = { name, categoryId: 1, status: 'available' };
    const { id } = await create<Pet>('/pets', newPet, name);
    const order = await create<Order>('/store/orders', { petId: id }, name);
    expect(order).toEqual(seen ?? order);
    orders.set(name, order);
  }

  async function addUntilKilled(): Promise<void> {
    try {
      for (;;) await addAndOrder(`Pet ${orders.size}`);
    } catch (error) {
      // The error of `fetch` and of a body, when the connection ends.
      if (!(error instanceof TypeError)) throw error;
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
    const ordered = (await list<Order>('/store/orders')).map(({ petId }) => petId);
    const pending = await list<Pet>('/pets?status=pending');
    // An order and the status of its animal are written together.
    expect(new Set(ordered)).toEqual(new Set(pending.map(({ id }) => id)));
    for (const name of orders.keys()) await addAndOrder(name);
    const names = (await list<Pet>('/pets')).map((pet) => pet.name);
    expect(names.toSorted()).toEqual([...orders.keys()].toSorted());
    await kill(again);
  }
});
