import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWrites, resumeWrites, stopWrites } from '../ops/stopped-writes.ts';
import { startStore } from './store.ts';

const store = startStore();

let executed: string[];

async function execute(sql: string): Promise<string[]> {
  executed.push(sql);
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(sql).all<{ name: string }>();
  return results.map(({ name }) => name);
}

beforeEach(() => {
  executed = [];
});
afterEach(() => resumeWrites(execute));

const KEYED = { headers: { 'Idempotency-Key': 'before' } };

describe('while writes are stopped', () => {
  // Pet 1 has the open order 1, pet 2 has none.
  beforeEach(async () => {
    await store.create({ name: 'Rex', categoryId: 1, status: 'available' });
    await store.create({ name: 'Max', categoryId: 1, status: 'available' }, KEYED);
    await store.placeOrder({ petId: 1 });
    await stopWrites(execute);
  });

  test.each([
    ['POST', '/v1/pets', { name: 'Ada', categoryId: 2 }],
    ['PATCH', '/v1/pets/2', { name: 'Ada' }],
    ['DELETE', '/v1/pets/2', undefined],
    ['POST', '/v1/store/orders', { petId: 2 }],
    ['PATCH', '/v1/store/orders/1', { status: 'approved' }],
    ['PATCH', '/v1/store/orders/1', { status: 'cancelled' }],
  ])('%s %s is a 503 with Retry-After that changes nothing', async (method, path, body) => {
    const rejected = await store.send(method, path, body);
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get('Retry-After')).toBe('5');
    expect(rejected.body).toEqual({
      code: 'service_unavailable',
      message: 'Writes are temporarily stopped; reads still work. Retry later.',
      status: 503,
    });
    expect((await store.fetch('/v1/pets')).body).toEqual([
      { id: 1, name: 'Rex', categoryId: 1, status: 'pending' },
      { id: 2, name: 'Max', categoryId: 1, status: 'available' },
    ]);
    expect((await store.fetch('/v1/store/orders')).body).toMatchObject([
      { id: 1, petId: 1, status: 'placed' },
    ]);
  });

  test('reads, errors of the client and replays of earlier creates are answered as always', async () => {
    expect((await store.fetch('/v1/pets/1')).status).toBe(200);
    const session = { headers: { 'X-D1-Bookmark': 'first-unconstrained' } };
    expect((await store.fetch('/v1/store/orders/1', session)).status).toBe(200);
    expect((await store.send('PATCH', '/v1/pets/9', { name: 'Ada' })).status).toBe(404);
    expect((await store.create({ name: 'Ada' })).status).toBe(400);
    const max = { name: 'Max', categoryId: 1, status: 'available' };
    const replayed = await store.create(max, KEYED);
    expect([replayed.status, replayed.headers.get('Idempotency-Replayed')]).toEqual([201, 'true']);
    expect(await store.scheduled()).toBe(true);
  });

  test('the log says why, and resuming lets the same request pass', async () => {
    const ada = { name: 'Ada', categoryId: 2 };
    const keyed = { headers: { 'Idempotency-Key': 'during' } };
    expect((await store.create(ada, keyed)).status).toBe(503);
    const lines = await store.logLines();
    expect(lines.at(-1)).toMatchObject({ cause: expect.stringContaining('writes are stopped') });
    await resumeWrites(execute);
    expect((await store.create(ada, keyed)).status).toBe(201);
    expect((await store.send('DELETE', '/v1/pets/2', undefined)).status).toBe(204);
  });
});

test('each table that a client can change is stopped by triggers of one line, sent one by one', async () => {
  expect(await readWrites(execute)).toBe('accepted');
  await stopWrites(execute);
  await stopWrites(execute);
  expect(await readWrites(execute)).toBe('stopped');
  const triggers = [...new Set(executed.filter((sql) => sql.startsWith('CREATE')))].sort();
  expect(triggers.map((sql) => sql.split(' ')[5])).toEqual([
    'stop_writes_orders_delete',
    'stop_writes_orders_insert',
    'stop_writes_orders_update',
    'stop_writes_pets_delete',
    'stop_writes_pets_insert',
    'stop_writes_pets_update',
  ]);
  for (const sql of triggers) expect(sql).toMatch(/^[^\n;]+ BEGIN [^\n;]+; END;$/);
});

test('writes are partly stopped until each table has all its triggers', async () => {
  await stopWrites(execute);
  await execute('DROP TRIGGER stop_writes_orders_update');
  expect(await readWrites(execute)).toBe('partly stopped');
  await stopWrites(execute);
  expect(await readWrites(execute)).toBe('stopped');
});

test('stopping fails when a trigger is missing at its end, or when the database has no tables', async () => {
  const withoutEffect = async (sql: string) => (sql.startsWith('CREATE') ? [] : execute(sql));
  await expect(stopWrites(withoutEffect)).rejects.toThrow('Some tables still accept writes');
  await expect(stopWrites(async () => [])).rejects.toThrow('The database has no tables');
});
