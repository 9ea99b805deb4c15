/** The service has no validators, so it must not carry out a change with a precondition (RFC 9110, section 13.1.1). */
import { beforeEach, describe, expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const HEADERS = {
  'If-Match': '"1"',
  'If-None-Match': '*',
  'If-Unmodified-Since': 'Fri, 20 Nov 2026 00:00:00 GMT',
};

beforeEach(() =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 3, 'pending'), (2, 'Max', 3, 'sold');
     INSERT INTO orders (id, pet_id) VALUES (1, 1)`,
  ),
);

describe.each(Object.entries(HEADERS))('%s: %s', (name, value) => {
  test.each([
    ['PATCH', '/v1/pets/2', { name: 'Tom' }],
    ['DELETE', '/v1/pets/2', {}],
    ['PATCH', '/v1/store/orders/1', { status: 'approved' }],
  ])('with %s %s is a 400, and nothing is changed', async (method, path, body) => {
    const reply = await store.send(method, path, body, { headers: { [name]: value } });
    expect(errorOf(reply.body)).toBe(
      `400 invalid_request: ${name}: is not supported, because responses have no ETag and no Last-Modified`,
    );
    expect(await store.calls()).toMatchObject({ d1: 0 });
  });

  test('is ignored by GET and POST', async () => {
    const headers = { [name]: value };
    expect((await store.fetch('/v1/pets/2', { headers })).status).toBe(200);
    expect((await store.create({ name: 'Ada', categoryId: 1 }, { headers })).status).toBe(201);
  });
});
