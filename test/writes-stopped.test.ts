import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWrites, resumeWrites, stopWrites } from '../ops/stopped-writes.ts';
import { expectError, expectUnchanged } from './orders/steps.ts';
import { TABLES } from './server.ts';
import { startStore } from './store.ts';

const store = startStore();

let executed: string[];

async function execute(sql: string): Promise<string[]> {
  executed.push(sql);
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(sql).all<{ name: string }>();
  return results.map(({ name }) => name);
}

/** Pet 1 has the open order 1, pet 2 has none. */
beforeEach(async () => {
  executed = [];
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 1, 'pending'), (2, 'Max', 1, 'available');
     INSERT INTO orders (id, pet_id) VALUES (1, 1)`,
  );
});
afterEach(() => resumeWrites(execute));

describe('while writes are stopped', () => {
  const ADA = { name: 'Ada', categoryId: 2 };
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  test.each([
    ['POST', '/v1/pets', ADA],
    ['PATCH', '/v1/pets/2', { name: 'Ada' }],
    ['DELETE', '/v1/pets/2', undefined],
    ['POST', '/v1/store/orders', { petId: 2 }],
    ['PATCH', '/v1/store/orders/1', { status: 'approved' }],
  ])('%s %s is a 503 with Retry-After that changes nothing', async (method, path, body) => {
    await stopWrites(execute);
    const send = () => store.send(method, path, body);
    const rejected = await expectUnchanged(store, send);
    expect(rejected.headers.get('Retry-After')).toBe('5');
    const message = 'Writes are temporarily stopped; reads still work. Retry later.';
    expectError(rejected, 503, 'service_unavailable', message);
  });

  test('reads, errors of the client and replays are answered as always', async () => {
    expect((await store.create(ADA, keyed('before'))).status).toBe(201);
    await stopWrites(execute);
    expect((await store.fetch('/v1/store/orders/1')).status).toBe(200);
    expect((await store.send('PATCH', '/v1/pets/9', { name: 'Ada' })).status).toBe(404);
    const replayed = await store.create(ADA, keyed('before'));
    expect([replayed.status, replayed.headers.get('Idempotency-Replayed')]).toEqual([201, 'true']);
  });

  test('the log says why, and the same request passes afterwards', async () => {
    await stopWrites(execute);
    expect((await store.create(ADA, keyed('during'))).status).toBe(503);
    const [line] = await store.logLines();
    expect(line).toMatchObject({ cause: expect.stringContaining('writes are stopped') });
    await resumeWrites(execute);
    expect((await store.create(ADA, keyed('during'))).status).toBe(201);
  });
});

test('every change of a table of a resource has a trigger, sent alone', async () => {
  expect(await readWrites(execute)).toBe('accepted');
  await stopWrites(execute);
  await stopWrites(execute);
  expect(await readWrites(execute)).toBe('stopped');
  const created = new Set(executed.filter((sql) => sql.startsWith('CREATE')));
  const names = Array.from(created, (sql) => sql.split(' ')[5]);
  // Clients cannot change the other tables.
  const tables = TABLES.filter((name) => name !== 'idempotency_keys' && name !== 'write_attempts');
  const triggersOf = (table: string) =>
    ['insert', 'update', 'delete'].map((event) => `stop_writes_${table}_${event}`);
  expect(tables).toContain('orders');
  expect(names.sort()).toEqual(tables.flatMap(triggersOf).sort());
  // D1's API splits a request at semicolons, except in a trigger that it recognizes.
  for (const sql of created) expect(sql).toMatch(/^[^\n;]+ BEGIN [^\n;]+; END;$/);
});

test('writes are partly stopped until each table has all its triggers', async () => {
  await stopWrites(execute);
  await execute('DROP TRIGGER stop_writes_orders_update');
  expect(await readWrites(execute)).toBe('partly stopped');
});

test('stopping fails when a trigger is missing at its end, or when the database has no tables', async () => {
  const withoutEffect = async (sql: string) => (sql.startsWith('CREATE') ? [] : execute(sql));
  await expect(stopWrites(withoutEffect)).rejects.toThrow('Some tables still accept writes');
  await expect(stopWrites(async () => [])).rejects.toThrow('The database has no tables');
});
