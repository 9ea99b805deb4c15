/** The bytes of the database that a create with an idempotency key takes, with its record. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const CREATES = 3_000;

/** Statements that repeat the only animal and its record, each time with another key of the same length. */
const repeated = (newKey: string) => {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${CREATES})`;
  return `${numbers} INSERT INTO pets (name, category_id, status)
      SELECT name, category_id, status FROM n, pets;
    ${numbers} INSERT INTO idempotency_keys
      (client, operation, idempotency_key, created_at, body_hash, request_id, response)
      SELECT client, operation, ${newKey}, created_at, body_hash, request_id, response
      FROM n, idempotency_keys`;
};

/** In bytes, without free pages. */
async function databaseSize(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT 1').all()).meta.size_after;
}

/** The bytes per create, of creates with this body. */
async function bytesPerCreate(body: unknown, key: string, newKey: string): Promise<number> {
  const authorization = `Bearer ${await store.issueKey()}`;
  const headers = { authorization, 'idempotency-key': key };
  expect((await store.create(body, { headers })).status).toBe(201);
  const before = await databaseSize();
  await store.exec(repeated(newKey));
  return ((await databaseSize()) - before) / CREATES;
}

test('the largest create takes at most 3,082 bytes', async () => {
  const body = `{"name":"${'🐕'.repeat(255)}","categoryId":-9223372036854775808,"status":"available"}`;
  const key = '123e4567-e89b-12d3-a456-426614174000';
  const newKey = 'substr(hex(randomblob(18)), 1, 36)';
  expect(await bytesPerCreate(body, key, newKey)).toBeLessThanOrEqual(3_082);
});

test('the smallest create takes at most 320 bytes', async () => {
  const newKey = 'char(33 + i / 90, 33 + i % 90)';
  expect(await bytesPerCreate({ name: 'a', categoryId: 1 }, 'k1', newKey)).toBeLessThanOrEqual(320);
});
