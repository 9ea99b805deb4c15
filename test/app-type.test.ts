/** `AppType` fits the responses: Hono's `hc` and `testClient` send requests that it describes. */
import { hc } from 'hono/client';
import { testClient } from 'hono/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AppType, app } from '../src/app.ts';
import { startStore } from './support/store.ts';

const store = startStore();

test('hc adds, lists, changes, fetches and deletes an animal', async () => {
  const headers = { Authorization: `Bearer ${await store.issueKey()}` };
  const { v1 } = hc<AppType>(store.url(), { headers });
  const json = { name: 'Kim', categoryId: 4, status: 'sold' } as const;
  const created = await v1.pets.$post({ json, header: { 'Idempotency-Key': 'k' } });
  const pet = await created.json();
  expect(pet).toEqual({ id: expect.any(Number), ...json });

  const query = { status: 'sold', limit: '1' } as const;
  const listed = await v1.pets.$get({ query, header: { 'X-D1-Bookmark': 'first-primary' } });
  expect(await listed.json()).toEqual([pet]);
  expect((await v1.pets.$get()).status).toBe(200);

  const param = { petId: '1' };
  const changed = await v1.pets[':petId'].$patch({ param, json: { status: null } });
  expect(await changed.json()).toEqual({ id: 1, name: 'Kim', categoryId: 4 });
  expect((await v1.pets[':petId'].$delete({ param })).status).toBe(204);
  const missing = await v1.pets[':petId'].$get({ param });
  expect(await missing.json()).toMatchObject({ code: 'pet_not_found', status: 404 });
});

test('testClient calls the app in the process of the test', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  const env = store.bindings();
  const { health, v1 } = testClient<AppType>(app, env);
  const healthy = await health.$get();
  expect(await healthy.json()).toMatchObject({ status: 'ok' });
  const rejected = await v1.pets.$get();
  expect(await rejected.json()).toMatchObject({ code: 'missing_api_key', status: 401 });
});
