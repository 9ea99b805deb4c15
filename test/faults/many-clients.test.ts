/** Fifty clients want one thing while a third of the responses of D1 are lost. */
import { beforeEach, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import { clientOf, untilAnswered } from './client.ts';

const store = startStore({ faults: true, env: 'staging' });
const { addAnimal, contents, create, place } = clientOf(store);

beforeEach(() =>
  store.fault({ d1AtRandom: { rate: 1 / 3, faults: ['loses the response'], seed: 3 } }),
);

async function fromFiftyClients(send: (client: number) => Promise<Reply>): Promise<Reply[]> {
  const replies = await Promise.all(Array.from({ length: 50 }, (_, client) => send(client)));
  expect((await store.calls()).d1Faults).toBeGreaterThan(10);
  return replies;
}

test('creates with one Idempotency-Key add one animal, and all get the same answer', async () => {
  const replies = await fromFiftyClients(() => untilAnswered(() => create('Rex', 'k')));
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(await contents()).toEqual(['animal Rex is without status']);
});

test('of orders of one animal, each with an Idempotency-Key, one succeeds', async () => {
  await addAnimal('available');
  const replies = await fromFiftyClients((client) =>
    untilAnswered(() => place(1, `client ${client}`)),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
  expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
});

test('orders of one animal without a key place one, whose answer can be lost', async () => {
  await addAnimal('available');
  const replies = await fromFiftyClients(() => place(1));
  expect(replies.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
});
