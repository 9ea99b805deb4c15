/** Calls the store at STORE_URL with the key STORE_KEY, using each generated client. */
import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import * as heyApi from './dist/hey-api';
import { client as heyApiClient } from './dist/hey-api/client.gen';
import type { paths } from './dist/openapi-typescript.d.ts';
import * as orval from './dist/orval';

const { STORE_URL = '', STORE_KEY } = process.env;
const headers = { Authorization: `Bearer ${STORE_KEY}` };
const body = { name: 'Rex', categoryId: 3, status: 'available' } as const;
const query = { limit: 100, status: 'available' } as const;

const typed = createClient<paths>({ baseUrl: STORE_URL, headers });
const { data: first } = await typed.POST('/pets', { body });
assert(first);
const listed = await typed.GET('/pets', { params: { query } });
assert.deepEqual(listed.data, [{ ...body, id: first.id }]);
const missing = await typed.GET('/pets/{petId}', { params: { path: { petId: 0 } } });
assert.equal(missing.error?.code, 'pet_not_found');

heyApiClient.setConfig({ baseUrl: STORE_URL, headers });
const idempotencyKey = crypto.randomUUID();
const second = await heyApi.createPet({ body, headers: { 'Idempotency-Key': idempotencyKey } });
assert.equal(second.data?.name, body.name);
const changed = await heyApi.updatePet({
  path: { petId: Number(second.data.id) },
  body: { status: null },
});
assert.equal(changed.data?.status, undefined);
const health = await heyApi.getHealth();
assert.equal(health.data?.status, 'ok');
await assert.rejects(heyApi.createPet({ body: { ...body, name: 'a\u0000' }, throwOnError: true }));

const third = await orval.createPet(body, { headers });
assert(third.status === 201);
const order = await orval.placeOrder({ petId: third.data.id }, { headers });
assert.equal(order.status, 201);
const invalid = await orval.listPets({ limit: 0 }, { headers });
assert(invalid.status === 400);
assert.equal(invalid.data.code, 'invalid_request');
