/** `AppType` fits the responses: Hono's `hc` and `testClient` send requests that it describes. */
import { hc } from 'hono/client';
import { testClient } from 'hono/testing';
import { expect, test } from 'vitest';
import { type AppType, app } from '../src/app.ts';
import { stopTime } from './support/in-process.ts';
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

test('testClient calls the app in the process of the test', async () => {
  stopTime();
  const rejected = await testClient<AppType>(app, store.bindings()).v1.pets.$get();
  expect(await rejected.json()).toMatchObject({ code: 'missing_api_key', status: 401 });
});
