/** `AppType` fits the responses: Hono's `hc` sends requests that it describes. */
import { hc } from 'hono/client';
import { expect, test } from 'vitest';
import type { AppType } from '../src/app.ts';
import { startStore } from './support/store.ts';

const store = startStore();

test('hc adds, lists, changes and deletes an animal', async () => {
  const headers = { Authorization: `Bearer ${await store.issueKey()}` };
  const { v1 } = hc<AppType>(store.url(), { headers });
  const json = { name: 'Kim', categoryId: 4, status: 'sold' } as const;
  const created = await v1.pets.$post({ json, header: { 'Idempotency-Key': 'k' } });
  const query = { status: 'sold', limit: '1' } as const;
  const listed = await v1.pets.$get({ query, header: { 'X-D1-Bookmark': 'first-primary' } });
  expect(await listed.json()).toEqual([await created.json()]);
  const param = { petId: '1' };
  const changed = await v1.pets[':petId'].$patch({ param, json: { status: null } });
  expect(await changed.json()).toMatchObject({ name: 'Kim' });
  expect((await v1.pets[':petId'].$delete({ param })).status).toBe(204);
});
