/** Many concurrent clients while D1 fails: no animal is lost, and none is added twice. */
import { expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { type Reply, startStore } from '../store.ts';
import { clientOf, RANDOM_FAULTS, untilAnswered } from './client.ts';

const store = startStore({ faults: true, env: 'staging' });
const { names } = clientOf(store);

/** Adds an animal, however often the request must be sent. */
async function create(name: string, key: string): Promise<Reply> {
  const headers = { 'idempotency-key': key };
  const reply = await untilAnswered(() => store.create({ name, categoryId: 1 }, { headers }));
  expect(reply.status).toBe(201);
  return reply;
}

test('50 concurrent creates with one key add one animal while a third of the responses of D1 are lost', async () => {
  const d1AtRandom = { rate: 1 / 3, faults: ['loses the response' as const], seed: 1 };
  await store.fault({ d1AtRandom });
  const replies = await Promise.all(Array.from({ length: 50 }, () => create('Rex', 'one')));
  const { d1Faults } = await store.calls();
  expect(d1Faults).toBeGreaterThan(10);
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(await names()).toEqual(['Rex']);
});

test('concurrent creates add every animal once, each with its own id, while a fifth of the calls of D1 fail', async () => {
  await store.fault({ d1AtRandom: { rate: 0.2, faults: RANDOM_FAULTS, seed: 2 } });
  const wanted = Array.from({ length: 60 * REPEAT }, (_, i) => `Pet ${i}`);
  const replies: Reply[] = [];
  for (let i = 0; i < wanted.length; i += 20) {
    const some = wanted.slice(i, i + 20).map((name) => create(name, `key of ${name}`));
    replies.push(...(await Promise.all(some)));
  }
  const { d1Faults } = await store.calls();
  expect(d1Faults).toBeGreaterThan(5);

  await store.fault({});
  const written = await names();
  expect(written.sort()).toEqual([...wanted].sort());
  const ids = new Set(replies.map(({ body }) => (body as { id: number }).id));
  expect(ids.size).toBe(wanted.length);
  for (const reply of replies) {
    const { id } = reply.body as { id: number };
    expect((await store.fetch(`/v1/pets/${id}`)).text).toBe(reply.text);
  }
});
