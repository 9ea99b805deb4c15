/** The scopes of keys, and the 403 of RFC 6750, section 3.1. */
import { expect, test } from 'vitest';
import type { KeyRecord } from '../../src/auth/key-record.ts';
import { errorOf, operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });
/** A request that reached D1 would be a 503. */
const send = startApp(store);

async function keyWith(record: Partial<KeyRecord>): Promise<string> {
  return `Bearer ${await store.issueKey({ id: 'the key', ...record })}`;
}

const OPERATIONS = operations
  .filter(({ operation }) => operation.security === undefined)
  .map(({ method, path, operation: { operationId } }) => ({ operationId, method, path }));

test.each(OPERATIONS)('$operationId needs its scope before it is validated', async (each) => {
  const [scope, other] = each.method === 'GET' ? ['read', 'write'] : ['write', 'read'];
  const authorization = await keyWith({ scopes: [other] });
  const path = `${each.path.replace(/\{\w+\}/, 'abc')}?x=1`;
  const { headers, body } = await send(each.method, path, undefined, { authorization });
  expect(errorOf(body)).toBe(
    `403 insufficient_scope: This API key does not have the scope ${scope}.`,
  );
  expect(headers.get('www-authenticate')).toBe(
    `Bearer realm="animal-store", error="insufficient_scope", scope="${scope}"`,
  );
});

const RECORDS: { record: Record<string, unknown>; canRead: boolean; canWrite: boolean }[] = [
  { record: { unknown: [1] }, canRead: true, canWrite: true },
  { record: { scopes: ['read', 'admin'] }, canRead: true, canWrite: false },
  { record: { scopes: ['write'] }, canRead: false, canWrite: true },
  { record: { scopes: [] }, canRead: false, canWrite: false },
  { record: { scopes: ['READ', 'WRITE'] }, canRead: false, canWrite: false },
  // Not understood, so not a licence to write.
  { record: { scopes: null }, canRead: true, canWrite: false },
  { record: { scopes: 'write' }, canRead: true, canWrite: false },
  { record: { scopes: ['read', 'write'], scope: 'read' }, canRead: true, canWrite: false },
];

test.each(RECORDS)('a key with $record may read: $canRead, write: $canWrite', async (each) => {
  const headers = { authorization: await keyWith(each.record) };
  const list = await store.fetch('/v1/pets', { headers });
  const create = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
  expect([list.status === 200, create.status === 201]).toEqual([each.canRead, each.canWrite]);
  const permitted = [each.canRead, each.canWrite].filter(Boolean).length;
  expect(await store.calls()).toMatchObject({ d1: permitted });
});
