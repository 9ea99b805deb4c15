/**
 * The smoke test's writes: it adds two animals, orders both, and deletes them. What it is about to add is noted
 * before it is sent, so that it can be removed even when an answer is lost.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Answer } from './client.ts';
import { expect, expectProblem } from './expect.ts';

/** What the smoke test added. */
export type Added = {
  /** The name of the animals. */
  name: string;
  /** The idempotency keys that animals and orders were sent with. */
  petKeys: string[];
  orderKeys: string[];
  /** The requests that changed or deleted something: each has left a record. */
  writes: string[];
  /** The ids of the animals and orders whose answer came. */
  petIds: bigint[];
  orderIds: bigint[];
};

/** Requests with the smoke test's key. */
export type Requests = {
  get(path: string): Promise<Answer>;
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
};

/** Runs a check by its name; it returns what it has seen, in words. */
export type RunCheck = (name: string, run: () => Promise<string>) => Promise<void>;

const Item = z.object({ id: z.bigint() });
const WithStatus = z.object({ status: z.string() });

export function nothingAdded(): Added {
  const name = `Smoke test ${randomUUID()}`;
  return { name, petKeys: [], orderKeys: [], writes: [], petIds: [], orderIds: [] };
}

export async function addPets(store: Requests, check: RunCheck, added: Added): Promise<void> {
  const pet = `{"name":"${added.name}","categoryId":1,"status":"sold"}`;
  for (const animal of ['an animal', 'another']) {
    await check(`${animal} is added once, however often it is sent`, () =>
      createOnce(store, '/v1/pets', pet, added.petKeys, added.petIds),
    );
  }
}

/** Orders both animals: one is delivered, and one cancelled. */
export async function orderPets(store: Requests, check: RunCheck, added: Added): Promise<void> {
  const [sold, returned] = added.petIds;
  const order = (petId: bigint | undefined) =>
    createOnce(store, '/v1/store/orders', `{"petId":${petId}}`, added.orderKeys, added.orderIds);
  // A change leaves a record of its request.
  const change = async (path: string, status: string) => {
    const answer = await store.send('PATCH', path, `{"status":"${status}"}`);
    added.writes.push(answer.headers.get('x-request-id') ?? '');
    return answer;
  };
  const move = async (index: number, status: string) => {
    const path = `/v1/store/orders/${added.orderIds[index]}`;
    expectStatus(await change(path, status), status);
  };
  const expectPet = async (id: bigint | undefined, status: string) =>
    expectStatus(await store.get(`/v1/pets/${id}`), status);

  await check('animals are changed', async () => {
    for (const id of added.petIds) {
      expectStatus(await change(`/v1/pets/${id}`, 'available'), 'available');
    }
    return 'available';
  });
  await check('an order is placed once, however often it is sent', async () => {
    const result = await order(sold);
    await expectPet(sold, 'pending');
    return result;
  });
  await check('an animal has one open order, and is not deleted', async () => {
    const key = randomUUID();
    added.orderKeys.push(key);
    const another = `{"petId":${sold}}`;
    const again = await store.send('POST', '/v1/store/orders', another, { 'Idempotency-Key': key });
    expectProblem(again, 409, 'pet_not_available');
    const deletion = await store.send('DELETE', `/v1/pets/${sold}`);
    expectProblem(deletion, 409, 'pet_has_open_order');
    return 'pet_not_available, pet_has_open_order';
  });
  await check('an order is approved and delivered', async () => {
    await move(0, 'approved');
    await move(0, 'delivered');
    await expectPet(sold, 'sold');
    return 'the animal is sold';
  });
  await check('an order is cancelled', async () => {
    await order(returned);
    await move(1, 'cancelled');
    await expectPet(returned, 'available');
    return 'the animal is available';
  });
}

export async function deletePets(store: Requests, check: RunCheck, added: Added): Promise<void> {
  await check('animals are deleted', async () => {
    for (const id of added.petIds) {
      const { status, headers } = await store.send('DELETE', `/v1/pets/${id}`);
      added.writes.push(headers.get('x-request-id') ?? '');
      expect('status', status, 204);
    }
    return `${added.petIds.length} animals`;
  });
}

/** Sends a create twice with one idempotency key. Notes the key before, and the id after. */
async function createOnce(
  store: Requests,
  path: string,
  body: string,
  keys: string[],
  ids: bigint[],
): Promise<string> {
  const key = randomUUID();
  keys.push(key);
  const first = await store.send('POST', path, body, { 'Idempotency-Key': key });
  expect('status', first.status, 201);
  const id = Item.safeParse(first.body).data?.id;
  if (id === undefined) throw new Error('the answer has no id');
  ids.push(id);
  expect('Location', first.headers.get('location')?.endsWith(`${path}/${id}`), true);
  const again = await store.send('POST', path, body, { 'Idempotency-Key': key });
  expect('Idempotency-Replayed', again.headers.get('idempotency-replayed'), 'true');
  expect('second answer', again.body, first.body);
  return `id ${id}`;
}

function expectStatus({ status, body }: Answer, expected: string): void {
  expect('status', status, 200);
  expect('status in the body', WithStatus.safeParse(body).data?.status, expected);
}
