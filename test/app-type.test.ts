/** `AppType` fits the requests and responses of the store. */
import { hc } from 'hono/client';
import { assert, expect, test } from 'vitest';
import type { AppType } from '../src/app.ts';
import { startStore } from './support/store.ts';

const store = startStore();

test('hc adds, lists, changes and deletes an animal', async () => {
  const headers = { Authorization: `Bearer ${await store.issueKey()}` };
  const { v1 } = hc<AppType>(store.url(), { headers });
  const json = { name: 'Kim', categoryId: 4, status: 'sold' } as const;
  const created = await v1.pets.$post({ json, header: { 'Idempotency-Key': 'k' } });
  const query = { status: 'sold', limit: '1', after: '0' } as const;
  const listed = await v1.pets.$get({ query, header: { 'X-D1-Bookmark': 'first-primary' } });
  assert(listed.status === 200);
  const [pet] = await listed.json();
  expect(pet).toEqual(await created.json());
  pet?.id satisfies number | undefined;
  pet?.status satisfies 'sold' | 'available' | 'pending' | undefined;
  // @ts-expect-error: not a field
  pet?.nmae;
  const param = { petId: '1' };
  const changed = await v1.pets[':petId'].$patch({ param, json: { status: null } });
  assert(changed.ok);
  expect((await changed.json()).name).toBe('Kim');
  expect((await v1.pets[':petId'].$delete({ param })).status).toBe(204);
});
