/**
 * Idempotency records during a gradual release, when version 1.0.0 and this version serve requests at the same
 * time. The statements and the record are those of version 1.0.0.
 */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const BODY = '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
/** SHA-256 of `[["categoryId","9007199254740993n"],["name","Rex"],["status","sold"]]`. */
const BODY_HASH = '3d0dca8709be1584ecbbdfb6f67680f4fdff8ebaf1d805b546be65cf6247c996';

const create = (body: string) => store.create(body, { headers: { 'idempotency-key': 'k' } });

test('this version accepts a record of 1.0.0', async () => {
  const { DB } = await store.bindings();
  const answer = '{"id":41,"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  await DB.prepare(
    `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
     VALUES ('suite', 'k', ?1, ?2, ?3, '6f1e7a0e-5f0f-4d1b-9a44-4f7f1d9a1b11')`,
  )
    .bind(Date.now() - 1000, BODY_HASH, answer)
    .run();
  const reply = await create(BODY);
  expect([reply.status, reply.text]).toEqual([201, answer]);
  expect(reply.headers.get('idempotency-replayed')).toBe('true');
  expect(reply.headers.get('location')).toMatch(/\/v1\/pets\/41$/);
  expect((await create(BODY.replace('Rex', 'Max'))).status).toBe(422);
  expect((await store.fetch('/v1/pets')).text).toBe('[]');
});

test('1.0.0 accepts a record of this version', async () => {
  const reply = await create(BODY);
  expect(reply.status).toBe(201);
  const { DB } = await store.bindings();
  const record = await DB.prepare(
    `SELECT CAST(json_extract(answer, '$.id') AS TEXT) AS pet_id, answer AS pet, body_hash, request_id
     FROM idempotency_keys WHERE key_id = ?1 AND idempotency_key = ?2`,
  )
    .bind('suite', 'k')
    .first();
  expect(record).toEqual({
    pet_id: String((reply.body as { id: number }).id),
    pet: reply.text,
    body_hash: BODY_HASH,
    request_id: reply.headers.get('x-request-id'),
  });
});
