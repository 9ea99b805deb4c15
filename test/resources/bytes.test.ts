/** The bytes of the database that a create with an idempotency key takes, with its record. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const CREATES = 3_000;

/** Statements that repeat the only animal and its record, each time with another key. */
const repeated = () => {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${CREATES})`;
  return `${numbers} INSERT INTO pets (name, category_id, status)
      SELECT name, category_id, status FROM n, pets;
    ${numbers} INSERT INTO idempotency_keys
      (key_hash, created_at, body_hash, request_id, response)
      SELECT hex(randomblob(32)), created_at, body_hash, request_id, response
      FROM n, idempotency_keys`;
};

/** In bytes, without free pages. */
async function databaseSize(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT 1').all()).meta.size_after;
}

/** The bytes per create, of creates with this body. */
async function bytesPerCreate(body: unknown, key: string): Promise<number> {
  const authorization = `Bearer ${await store.issueKey()}`;
  const headers = { authorization, 'idempotency-key': key };
  expect((await store.create(body, { headers })).status).toBe(201);
  const before = await databaseSize();
  await store.exec(repeated());
  return ((await databaseSize()) - before) / CREATES;
}

test('the largest create takes at most 3,082 bytes', async () => {
  const body = `{"name":"${'🐕'.repeat(255)}","categoryId":-9223372036854775808,"status":"available"}`;
  expect(await bytesPerCreate(body, 'k'.repeat(255))).toBeLessThanOrEqual(3_082);
});

test('the smallest create takes at most 400 bytes', async () => {
  expect(await bytesPerCreate({ name: 'a', categoryId: 1 }, 'k')).toBeLessThanOrEqual(400);
});
